import Synchronization
public import TidemarkModel

/// The client: cache, mutation queue, listens and their streams, on one serial executor.
///
/// Every method may be called from any thread and returns at once; results come to the closures, on
/// the engine's executor. Nothing suspends inside a step, and SQLite is called synchronously there.
/// Where a method has a parameter `here` and is given true, and the executor is idle, its step runs on
/// the calling thread and its closure may be called before it returns.
public final class SyncEngine: Sendable {
    public struct Configuration: Hashable, Sendable {
        public var database: DatabaseID
        /// The cache's file; nil for one in memory.
        public var cacheFile: String?
        /// Whose cache and queue of writes it opens: a file of its own beside ``cacheFile``. Nil
        /// for nobody in particular, whose file that is.
        public var user: String?
        /// As FirebaseFirestore has it: one cache for all users, and only the queue of writes is
        /// each one's own. What one user has read, the next one sees.
        public var sharesCacheBetweenUsers: Bool
        /// For the server's read meter.
        public var label: String?
        /// How many documents in limbo are asked for at once; the others wait.
        public var maxLimboResolutions: Int
        /// How many batches the queue of writes holds; a write beyond is refused. They are kept in
        /// memory too.
        public var maxPendingWrites: Int
        /// A bearer token for every call; nil for none.
        public var token: String?
        /// What the cache may take, in bytes: beyond it, what was used the longest ago goes. Nil for
        /// no bound. Source of the default: client-engine 2.0, "Cache size".
        public var cacheSizeBytes: Int64?
        /// Whether a cache that somebody else has open is read as it was at that moment, in place of a
        /// failure: the engine then asks no server and refuses writes.
        public var viewsBusyCache = false
        /// Whether what is not in use any more goes within a second, and not when the cache is full.
        public var freesAtOnce = false
        /// What of a day may be read, and what happens then.
        public var readBudgets: [ReadBudget] = []
        /// When a listener that costs without an end is stopped.
        public var stormBounds = StormBreaker.Bounds()

        public init(
            database: DatabaseID, cacheFile: String?, user: String? = nil,
            sharesCacheBetweenUsers: Bool = false, label: String? = nil,
            maxLimboResolutions: Int = 100, maxPendingWrites: Int = 100_000,
            cacheSizeBytes: Int64? = 100 * 1024 * 1024,
            token: String? = nil
        ) {
            precondition(maxLimboResolutions > 0 && maxPendingWrites > 0)
            self.database = database
            self.cacheFile = cacheFile
            self.user = user
            self.sharesCacheBetweenUsers = sharesCacheBetweenUsers
            self.label = label
            self.maxLimboResolutions = maxLimboResolutions
            self.maxPendingWrites = maxPendingWrites
            self.token = token
            self.cacheSizeBytes = cacheSizeBytes
        }
    }

    public struct ListenOptions: Hashable, Sendable {
        public var includeMetadataChanges: Bool
        /// `.cache` never asks the server. `.server` waits for it with the first snapshot, unless
        /// it is known to be out of reach.
        public var source: ReadSource
        /// Whom its reads are counted for. Listeners of one query share one listen: it is the first
        /// one's.
        public var tag: ReadTag

        public init(
            includeMetadataChanges: Bool = false, source: ReadSource = .default,
            tag: ReadTag = ReadTag()
        ) {
            self.includeMetadataChanges = includeMetadataChanges
            self.source = source
            self.tag = tag
        }
    }

    /// What a write has come to, beyond the call that made it.
    public enum WriteEvent: Hashable, Sendable {
        /// In the durable queue: it will be sent, also after a kill.
        case journalled(batch: Int64)
        case acknowledged(commitTime: Timestamp)
        case failed(SyncError)
    }

    /// Opens the cache and starts.
    ///
    /// - Throws: ``SyncError/storage(_:)`` when the cache cannot be opened.
    public init(_ configuration: Configuration, _ environment: SyncEnvironment) throws(SyncError) {
        do { core = try EngineCore(configuration, environment) } catch {
            throw SyncError(storing: error)
        }
        scheduler = environment.scheduler
        sessions = Mutex(SessionCounter(user: configuration.user))
        perform { $0.start() }
    }

    /// An engine that refuses everything with this error, for a client that could not be made.
    package init(
        refusing error: SyncError, _ configuration: Configuration, _ environment: SyncEnvironment
    ) {
        var empty = configuration
        empty.cacheFile = nil
        empty.user = nil
        var quiet = environment
        quiet.storageFault = nil
        // SQLite's own memory fails only where the process has none left.
        core = try! EngineCore(empty, quiet)
        core.state = .refusing(error)
        scheduler = environment.scheduler
        sessions = Mutex(SessionCounter(user: nil))
    }

    /// Whether it shows what a cache held that somebody else has open.
    package var isReadOnly: Bool { core.isReadOnly }

    let core: EngineCore
    let scheduler: any EngineScheduler
    private let nextListener = Atomic<UInt64>(0)
    let sessions: Mutex<SessionCounter>

    func perform(_ job: @escaping @Sendable (EngineCore) -> Void) {
        let core = core
        scheduler.enqueue { job(core) }
    }

    /// - Parameter here: Whether it may run on the calling thread.
    func perform(here: Bool, _ job: @escaping @Sendable (EngineCore) -> Void) {
        let core = core
        if here, scheduler.runIfIdle({ job(core) }) { return }
        scheduler.enqueue { job(core) }
    }

    func subscribe(
        _ start: @escaping @Sendable (EngineCore, UInt64) -> Void,
        end: @escaping @Sendable (EngineCore, UInt64) -> Void
    ) -> any CancellableCall {
        let id = newListenerID()
        perform { start($0, id) }
        return Subscription(id, core, end)
    }

    private func newListenerID() -> UInt64 {
        nextListener.wrappingAdd(1, ordering: .relaxed).newValue
    }

    /// Listens to a query until the returned handle is cancelled. The first snapshot comes from the
    /// cache when it holds anything. A failure is the last event.
    public func listen(
        _ query: Query, _ options: ListenOptions = ListenOptions(),
        observer: @escaping @Sendable (Result<ViewSnapshot, SyncError>) -> Void
    ) -> any CancellableCall {
        let listener = Subscription(newListenerID(), core) { $0.removeListener($1) }
        // In one closure, which a screen full of listeners waits for. It holds the engine by way of the
        // handle: to what is held weakly somewhere, each further reference takes longer.
        scheduler.enqueue { listener.core.addListener(listener.id, query, options, observer) }
        return listener
    }

    /// Tells whether this device can store data: the present state first, then every change, until
    /// the returned handle is cancelled.
    public func observeStorage(
        _ observer: @escaping @Sendable (StorageState) -> Void
    ) -> any CancellableCall {
        subscribe {
            $0.observeStorage($1, observer)
        } end: {
            $0.storageObservers[$1] = nil
        }
    }

    /// Listens to one document; its snapshots have at most one row. As ``listen(_:_:observer:)``.
    public func listen(
        document path: DocumentPath, _ options: ListenOptions = ListenOptions(),
        observer: @escaping @Sendable (Result<ViewSnapshot, SyncError>) -> Void
    ) -> any CancellableCall {
        listen(.document(path, in: core.database), options, observer: observer)
    }

    /// Tells at once, and then whenever listeners have been given snapshots: all of them have seen
    /// the same changes then, so that what they show fits together.
    public func observeSnapshotsInSync(
        _ observer: @escaping @Sendable () -> Void
    ) -> any CancellableCall {
        subscribe {
            $0.observeInSync($1, observer)
        } end: {
            $0.syncObservers[$1] = nil
        }
    }

    /// Reads a query's rows once.
    ///
    /// - Parameter deadline: From now; then the cache answers, with the reason. Nil waits for the
    ///   server as long as it is thought to be reachable.
    /// - Parameter silence: How long the server may say nothing, where there is no deadline; nil for 60 s.
    ///   It does not end a read whose rows go on coming.
    /// - Parameter here: Whether the cache may answer within the call. `completion` must then neither
    ///   take a lock that the caller holds nor run anybody else's code.
    public func read(
        _ query: Query, source: ReadSource, deadline: Duration?, tag: ReadTag = ReadTag(),
        silence: Duration? = nil, here: Bool = false,
        completion: @escaping @Sendable (Result<ReadResult, SyncError>) -> Void
    ) {
        perform(here: here) {
            $0.read(.query(query), source, deadline, tag, silence: silence, completion)
        }
    }

    /// Reads one document once; a missing one is an answer with no rows. As the one for queries.
    public func read(
        document path: DocumentPath, source: ReadSource, deadline: Duration?,
        tag: ReadTag = ReadTag(), here: Bool = false,
        completion: @escaping @Sendable (Result<ReadResult, SyncError>) -> Void
    ) {
        perform(here: here) { $0.read(.document(path), source, deadline, tag, completion) }
    }

    /// Queues mutations as one batch, to be applied together. `observer` gets `journalled`, then
    /// `acknowledged` or `failed`; a batch found in the queue after a restart has no observer.
    public func write(
        _ mutations: [Mutation], observer: @escaping @Sendable (WriteEvent) -> Void
    ) {
        perform { $0.write(mutations, observer) }
    }

    /// Runs an aggregation on the server.
    public func aggregate(
        _ query: Query, _ aggregations: [Aggregation], deadline: Duration?,
        tag: ReadTag = ReadTag(),
        completion: @escaping @Sendable (Result<AggregationReply, SyncError>) -> Void
    ) {
        perform { $0.aggregate(query, aggregations, deadline, tag, completion) }
    }

    /// Fetches a query from the server with one call (no listen), puts its rows into the cache, and
    /// stores `records` in the same transaction: how a feed keeps its state true to its documents.
    ///
    /// - Parameter records: From the rows and the read time, what to store under which keys of
    ///   ``record(forKey:completion:)``; called on the engine's executor, once, when all has
    ///   arrived. When the call fails half way none is stored; rows that came may be.
    /// - Parameter tag: Whom it is counted for; as a ``ReadCause/page`` unless it says something else.
    public func fetch(
        _ query: Query, deadline: Duration?, tag: ReadTag = ReadTag(),
        records: @escaping @Sendable ([Document], _ readTime: Timestamp) -> [String: [UInt8]],
        completion: @escaping @Sendable (Result<ReadResult, SyncError>) -> Void
    ) {
        perform { $0.fetch(query, deadline, tag, records, completion) }
    }

    /// Reads a record of the engine's users: small state kept beside the documents it speaks of.
    public func record(
        forKey key: String, completion: @escaping @Sendable (Result<[UInt8]?, SyncError>) -> Void
    ) {
        perform { $0.record(key, completion) }
    }

    /// Stores a record; nil removes it.
    public func setRecord(
        _ value: [UInt8]?, forKey key: String,
        completion: @escaping @Sendable (SyncError?) -> Void
    ) {
        perform { $0.setRecord(value, key, completion) }
    }

    public func setNetworkEnabled(_ enabled: Bool, completion: @escaping @Sendable () -> Void) {
        perform { $0.setNetworkEnabled(enabled, completion) }
    }

    /// The system says that the network came back or changed, or the app came forward: tries again
    /// now what waits to be tried again.
    public func networkMayBeBack() { perform { $0.networkMayBeBack() } }

    /// Called when all writes that are pending now have been acknowledged or rejected.
    public func waitForPendingWrites(completion: @escaping @Sendable (SyncError?) -> Void) {
        perform { $0.waitForPendingWrites(completion) }
    }

    /// Makes the cache smaller now, as it is done every few minutes.
    ///
    /// - Parameters:
    ///   - limit: Nothing happens unless the cache takes more bytes.
    ///   - percent: Of all targets and documents that may go.
    package func collectGarbage(
        limit: Int64, percent: Int, completion: @escaping @Sendable (SyncError?) -> Void
    ) {
        perform { core in
            if let refusal = core.refusal { return completion(refusal) }
            do {
                try core.collectAllGarbage(limit: limit, percent: percent)
                completion(nil)
            } catch { completion(SyncError(storing: error)) }
        }
    }

    /// Makes another user the engine's, in one step: its listeners are told the new user's rows, and
    /// what the user before has pending stays in that user's queue until it is the user again.
    /// Reads that wait for the server fail with ``SyncError/userChanged``. While the new cache cannot
    /// be opened it is tried again, and everything else is refused with the reason.
    ///
    /// - Parameter erasesPrevious: Deletes what is kept of the user before, with the writes that
    ///   were never sent. Not where users share a cache.
    public func changeUser(
        to user: String?, erasesPrevious: Bool = false,
        completion: @escaping @Sendable (SyncError?) -> Void
    ) {
        // Within the lock, so that changes reach the engine in the order of their numbers.
        sessions.withLock { sessions in
            sessions.change(to: user)
            let change = UserChange(
                user: user, session: sessions.number, erasesPrevious: erasesPrevious,
                completion: completion)
            perform { $0.changeUser(change) }
        }
    }

    /// Makes the indexes now that idle moments would make, so that a measurement finds them made.
    package func finishIndexes(completion: @escaping @Sendable () -> Void) {
        perform { core in
            core.finishIndexes()
            completion()
        }
    }

    /// Lets go of the cache's file as the kill of the process does: nothing is written and nobody is
    /// told. Called while the engine's executor rests, which runs none of its jobs afterwards.
    package func abandon() { core.local.abandon() }

    /// Stops everything and closes the cache. Later calls fail with ``SyncError/terminated``.
    public func terminate(completion: @escaping @Sendable () -> Void) {
        perform { $0.terminate(completion) }
    }
}

/// A listener or an observer, to be cancelled. Events that are under way on the engine's executor
/// still arrive.
private final class Subscription: CancellableCall {
    let id: UInt64
    let core: EngineCore
    private let end: @Sendable (EngineCore, UInt64) -> Void

    init(
        _ id: UInt64, _ core: EngineCore,
        _ end: @escaping @Sendable (EngineCore, UInt64) -> Void
    ) {
        self.id = id
        self.core = core
        self.end = end
    }

    func cancel() {
        core.environment.scheduler.enqueue { self.end(self.core, self.id) }
    }
}
