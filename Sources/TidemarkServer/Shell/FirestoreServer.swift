import Synchronization
public import TidemarkModel
public import TidemarkStore

/// A Firestore: commits, queries, listens and a read meter over one store. It has no sockets; it is a
/// ``Transport`` itself.
///
/// Its decisions are those of ``ServerCore``; this is the shell: a bounded queue of commands, one
/// executor that hands all waiting ones to the core together, and the sinks. Sinks are called on the
/// executor, one at a time, after what they tell is durable, and with no lock held.
public final class FirestoreServer: Sendable {
    public struct Configuration: Hashable, Sendable {
        /// The folder of the database file; nil for memory.
        public var dataDirectory: String?
        /// How long versions are kept for reads at a past time and for exact resumes. Production: an
        /// hour.
        public var history: Duration
        /// Reads billed for a listen that resumes within 30 minutes and finds nothing changed.
        /// Google does not document whether the minimum of one applies; none is the default here.
        public var unchangedResumeReads: Int
        /// How long a read or a write waits for the locks of transactions before it is aborted.
        /// Production: about 15 s. Source: server-protocol 1.4.
        public var lockTimeout: Duration
        /// How many write streams can be taken up again, the newest.
        package var rememberedWriteStreams = 100_000

        public init(
            dataDirectory: String? = nil, history: Duration = .seconds(3_600),
            unchangedResumeReads: Int = 0, lockTimeout: Duration = .seconds(15)
        ) {
            self.dataDirectory = dataDirectory
            self.history = history
            self.unchangedResumeReads = unchangedResumeReads
            self.lockTimeout = lockTimeout
        }
    }

    let core: Mutex<ServerCore>
    let inbox = Mutex(Inbox())
    let sinks = Mutex(Sinks())
    let executor: any ServerExecutor
    /// When the core is to be woken, by the executor's time.
    let wakeUp = Mutex<Duration?>(nil)

    /// - Throws: ``StoreError`` when the data cannot be opened.
    public convenience init(_ configuration: Configuration) throws(StoreError) {
        try self.init(configuration, environment: .live())
    }

    package init(
        _ configuration: Configuration, environment: ServerEnvironment
    ) throws(StoreError) {
        executor = environment.executor
        core = Mutex(try ServerCore(configuration, environment: environment))
    }

    /// Reads billed so far, by the caller's label, in the order of the labels.
    public func meter() -> [MeterRow] { core.withLock { $0.meter.rows } }

    /// Makes the server's clock stand at `time` and go on from there, or follow the machine's again.
    ///
    /// - Throws: `failedPrecondition` for a time before the last commit: commit times never go back.
    public func setClock(_ time: Timestamp?) throws(RPCStatus) {
        let refusal = core.withLock { core in core.setClock(time) }
        if let refusal { throw refusal }
        // What was due later may be due now.
        executor.async { [weak self] in self?.wake() }
    }

    /// Finishes what is under way, ends every stream with `unavailable` and closes the store. Calls
    /// that come later end with `unavailable`.
    public func close() {
        inbox.withLock { $0.isClosed = true }
        executor.sync {
            while runBatch() {}
            deliver(core.withLock { $0.close() })
        }
    }
}

/// What one caller, by label, was billed for and was sent.
public struct MeterRow: Hashable, Sendable, Codable {
    public var label: String
    /// Documents, at least one a query, one per 1,000 index entries of an aggregation.
    public var reads: Int
    public var writes: Int
    public var deletes: Int
    /// By RPC, the same reads again.
    public var readsByMethod: [String: Int]

    public init(
        label: String, reads: Int, writes: Int, deletes: Int, readsByMethod: [String: Int]
    ) {
        self.label = label
        self.reads = reads
        self.writes = writes
        self.deletes = deletes
        self.readsByMethod = readsByMethod
    }
}
