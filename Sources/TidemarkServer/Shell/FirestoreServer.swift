import Synchronization
public import TidemarkModel
public import TidemarkStore

/// A Firestore server: commits, queries, listens and a meter of reads, over one store. It has no
/// sockets. It is itself a ``Transport``.
///
/// ``ServerCore`` makes all decisions. This class is the shell: a bounded queue of commands, an
/// executor that passes all waiting commands to the core together, and the sinks. Sinks are called
/// on the executor, one at a time, with no lock held, and only after the data are durable.
public final class FirestoreServer: Sendable {
    public struct Configuration: Hashable, Sendable {
        /// The folder of the database file; nil for memory.
        public var dataDirectory: String?
        /// The time for which old versions are kept, for reads at a past time and for exact
        /// resumes. Production: an hour.
        public var history: Duration
        /// The time for which a read or a write waits for the locks of transactions before it is
        /// aborted. Production: about 15 s. Source: server-protocol 1.4.
        public var lockTimeout: Duration
        /// The meter's assumptions for costs that Google does not document.
        public var billing: Billing
        /// The maximum number of write streams that can be resumed. The newest are kept.
        package var rememberedWriteStreams = 100_000
        /// The indexes that queries need, and the reaction to a missing index; nil enforces no
        /// indexes.
        public var indexes: IndexSettings?
        /// The editions of the databases. Only databases of the Enterprise edition run pipelines.
        public var editions = DatabaseEditions()

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
    /// The search for expired documents.
    let expiry = Expiry()
    /// The time at which the core must be woken, by the executor's time.
    let wakeUp = Mutex<Duration?>(nil)
    /// The callers that wait until all document events are delivered.
    let eventWaiters = EventWaiters()

    /// - Throws: ``StoreError`` if the data cannot be opened.
    public convenience init(_ configuration: Configuration) throws(StoreError) {
        try self.init(configuration, environment: .live())
    }

    package init(
        _ configuration: Configuration, environment: ServerEnvironment
    ) throws(StoreError) {
        self.environment = environment
        executor = environment.executor
        core = Mutex(try ServerCore(configuration, environment: environment))
        expiry.step(.clockSet, on: self)
    }

    /// Returns the operations billed so far by the caller's label, sorted by label.
    public func meter() -> [MeterRow] { core.withLock { $0.meter.table }.byLabel }

    /// Returns the operations billed so far by the given dimensions, sorted by cost, highest first.
    public func meter(by dimensions: Set<MeterDimension>) -> [MeterDetail] {
        // The report is made without the lock that every call takes.
        core.withLock { $0.meter.table }.report(by: dimensions)
    }

    /// Counts calls without a label of their own under `label` from now on; nil ends that. A
    /// listener keeps the label that it was started with.
    public func setLabel(_ label: String?) { core.withLock { $0.meter.currentLabel = label } }

    /// Keeps a tally of the billed reads from now on. An earlier tally is dropped.
    package func keepReadTally(_ words: ReadTally.Words) {
        core.withLock { $0.meter.tally = ReadTally(words) }
    }

    /// Returns the lines of the tally in no particular order; none if no tally is kept.
    package func readLines() -> [ReadTally.Line] {
        core.withLock { $0.meter.tally }?.lines ?? []
    }

    /// Returns the cost of the server's own calls, such as the console's, if they were billed.
    package func unbilledUsage() -> Usage { core.withLock { $0.meter.unbilled } }

    /// Returns the databases with at least one commit, by project and name.
    package func databases() -> [DatabaseID] {
        let known = core.withLock { core in
            core.clocks.states.filter { $0.value.rowID != nil }.map(\.key)
        }
        return known.sorted { $0.name.precedesInBytes($1.name) }
    }

    /// Returns the edition of a database.
    public func edition(of database: DatabaseID) -> DatabaseEdition {
        core.withLock { $0.configuration.editions }.edition(of: database)
    }

    /// True if a database can be of the Enterprise edition.
    package var hasDatabasesOfUnits: Bool {
        let editions = core.withLock { $0.configuration.editions }
        return ([editions.common] + editions.own.values).contains(where: \.isBilledByUnits)
    }

    /// Resets the meter to zero.
    public func resetMeter() { core.withLock { $0.meter.reset() } }

    /// Returns the indexes that queries have used and missed so far.
    public func indexReport() -> IndexReport { core.withLock { $0.indexes.report } }

    /// Returns the missing indexes in the form of an index file; nil if none is missing.
    public func missingIndexes(of scope: DatabaseScope = .others) -> IndexConfiguration? {
        core.withLock { $0.indexes.missingConfiguration(scope) }
    }

    /// Returns the indexes that are in force for some databases; nil if none are enforced.
    public func indexes(of scope: DatabaseScope = .others) -> IndexConfiguration? {
        core.withLock { $0.indexes.declared(scope) }
    }

    /// Replaces the indexes that queries of some databases need, and their policies of time to
    /// live. Nil enforces no indexes there. Other databases keep theirs.
    ///
    /// - Throws: `resourceExhausted` if 1,000 databases have their own indexes already.
    public func setIndexes(
        _ settings: IndexSettings?, of scope: DatabaseScope = .others
    ) throws(RPCStatus) {
        guard core.withLock({ $0.indexes.set(settings, of: scope) }) else {
            throw .tooManyDatabases
        }
        executor.async { [weak self] in
            if let self { expiry.step(.clockSet, on: self) }
        }
    }

    /// Sets the server's clock to `time`, from which it advances; nil follows the machine's clock
    /// again.
    ///
    /// - Throws: `failedPrecondition` if the time precedes the last commit, because commit times
    ///   never decrease.
    public func setClock(_ time: Timestamp?) throws(RPCStatus) {
        let refusal = core.withLock { core in core.clocks.set(time) }
        if let refusal { throw refusal }
        // Work that was due later can be due now.
        executor.async { [weak self] in
            guard let self else { return }
            wake()
            expiry.step(.clockSet, on: self)
        }
    }

    /// Performs the notices of the core about indexes. Called before the answers are sent, because
    /// a caller must find the added index in the file. Call it only on the executor.
    func reportIndexes() {
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

    /// Removes every document of a database immediately, for tests that start again from empty. The
    /// listens are informed. The earlier history is removed, so later reads at a past time and
    /// resumes from before are refused as too old. Nothing is billed.
    ///
    /// - Throws: An error if the store cannot be written; nothing has changed then.
    public func clear(_ database: DatabaseID) async throws(RPCStatus) {
        let refusal: RPCStatus? = await withCheckedContinuation { done in
            clear(database) { done.resume(returning: $0) }
        }
        if let refusal { throw refusal }
    }

    /// - Parameter done: Called on the executor with the error, or nil after success.
    package func clear(
        _ database: DatabaseID, done: @escaping @Sendable (RPCStatus?) -> Void
    ) {
        executor.async { [self] in
            do {
                deliver(try core.withLock { core throws in try core.clear(database) })
                // Commands that waited for the transactions of the database can continue.
                wake()
                done(nil)
            } catch {
                done(RPCStatus(storeFailure: error))
            }
        }
    }

    /// Finishes the running work, ends every stream with `unavailable`, and closes the store. Later
    /// calls end with `unavailable`.
    public func close() {
        inbox.withLock { $0.isClosed = true }
        executor.sync {
            while runBatch() {}
            deliver(core.withLock { $0.close() })
        }
    }

    /// Closes the store as if the process was killed: waiting commands are dropped without an
    /// answer.
    package func abandon() {
        inbox.withLock { inbox in
            inbox.isClosed = true
            while !inbox.takeBatch().isEmpty {}
        }
        core.withLock { core in _ = core.close() }
    }
}
