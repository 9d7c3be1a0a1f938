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
        /// How long a read or a write waits for the locks of transactions before it is aborted.
        /// Production: about 15 s. Source: server-protocol 1.4.
        public var lockTimeout: Duration
        /// What the meter assumes where Google's documentation says nothing.
        public var billing: Billing
        /// How many write streams can be taken up again, the newest.
        package var rememberedWriteStreams = 100_000
        /// The indexes that queries need, and what happens where one is missing; nil to enforce none.
        public var indexes: IndexSettings?

        public init(
            dataDirectory: String? = nil, history: Duration = .seconds(3_600),
            billing: Billing = Billing(), lockTimeout: Duration = .seconds(15)
        ) {
            self.dataDirectory = dataDirectory
            self.history = history
            self.billing = billing
            self.lockTimeout = lockTimeout
        }
    }

    let core: Mutex<ServerCore>
    let inbox = Mutex(Inbox())
    let sinks = Mutex(Sinks())
    let environment: ServerEnvironment
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
        self.environment = environment
        executor = environment.executor
        core = Mutex(try ServerCore(configuration, environment: environment))
    }

    /// Reads billed so far, by the caller's label, in the order of the labels.
    public func meter() -> [MeterRow] { core.withLock { $0.meter.table }.byLabel }

    /// What was billed so far by any of the meter's dimensions, the dearest rows first.
    public func meter(by dimensions: Set<MeterDimension>) -> [MeterDetail] {
        // Grouped and sorted without the lock that every call takes.
        core.withLock { $0.meter.table }.report(by: dimensions)
    }

    /// What calls of the server's own, such as its console's, would have been billed for.
    package func unbilledUsage() -> Usage { core.withLock { $0.meter.unbilled } }

    /// The databases that something was written to, by project and name.
    package func databases() -> [DatabaseID] {
        let known = core.withLock { core in
            core.clocks.states.filter { $0.value.rowID != nil }.map(\.key)
        }
        return known.sorted { $0.name.precedesInBytes($1.name) }
    }

    /// Begins to count again, at nothing.
    public func resetMeter() { core.withLock { $0.meter.reset() } }

    /// Which indexes queries have used and missed so far.
    public func indexReport() -> IndexReport { core.withLock { $0.indexes.report } }

    /// The indexes that were missed, as a file of them; nil where none was.
    public func missingIndexes() -> IndexConfiguration? {
        core.withLock { $0.indexes.missingConfiguration }
    }

    /// Makes the server's clock stand at `time` and go on from there, or follow the machine's again.
    ///
    /// - Throws: `failedPrecondition` for a time before the last commit: commit times never go back.
    public func setClock(_ time: Timestamp?) throws(RPCStatus) {
        let refusal = core.withLock { core in core.clocks.set(time) }
        if let refusal { throw refusal }
        // What was due later may be due now.
        executor.async { [weak self] in self?.wake() }
    }

    /// Performs what the core has to tell of indexes. Before the answers go out, so that whoever has
    /// one finds the file as it was promised. Only on the executor.
    func tellOfIndexes() {
        let notices = core.withLock { $0.indexes.takeNotices() }
        for notice in notices {
            switch notice {
            case .log(let line): environment.log(line)
            case .add(let index, let path):
                do throws(IndexFileError) { try environment.addIndexes([index], path) } catch {
                    environment.log("index not added: \(error.message)")
                }
            }
        }
    }

    /// Removes every document of a database at once, as tests do between them. Its listens are told;
    /// its history before this moment is gone, so reads at a past time and resumes from before find it
    /// too old. Nothing is billed.
    ///
    /// - Throws: When the store cannot be written to; nothing has changed then.
    public func clear(_ database: DatabaseID) async throws(RPCStatus) {
        let refusal: RPCStatus? = await withCheckedContinuation { done in
            clear(database) { done.resume(returning: $0) }
        }
        if let refusal { throw refusal }
    }

    /// - Parameter done: Told why not, or nil when it is done; on the executor.
    package func clear(
        _ database: DatabaseID, done: @escaping @Sendable (RPCStatus?) -> Void
    ) {
        executor.async { [self] in
            do {
                deliver(try core.withLock { core throws in try core.clear(database) })
                // Those that have waited for the transactions there may go on.
                wake()
                done(nil)
            } catch {
                done(RPCStatus(storeFailure: error))
            }
        }
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

    /// Lets go of the store as the kill of the process does: what waits is dropped and nobody is told.
    package func abandon() {
        inbox.withLock { inbox in
            inbox.isClosed = true
            while !inbox.takeBatch().isEmpty {}
        }
        core.withLock { core in _ = core.close() }
    }
}
