import Synchronization
public import TidemarkModel

/// The client: cache, mutation queue, listens and their streams, on one serial executor.
///
/// Every method may be called from any thread and returns at once; results come to the closures, on
/// the engine's executor. Nothing suspends inside a step, and SQLite is called synchronously there.
public final class SyncEngine: Sendable {
    public struct Configuration: Hashable, Sendable {
        public var database: DatabaseID
        /// The cache's file; nil for one in memory.
        public var cacheFile: String?
        /// For the server's read meter.
        public var label: String?
        /// How many documents in limbo are asked for at once; the others wait.
        public var maxLimboResolutions: Int
        /// How many batches the queue of writes holds; a write beyond is refused. They are kept in
        /// memory too.
        public var maxPendingWrites: Int
        /// A bearer token for every call; nil for none.
        public var token: String?

        public init(
            database: DatabaseID, cacheFile: String?, label: String? = nil,
            maxLimboResolutions: Int = 100, maxPendingWrites: Int = 100_000,
            token: String? = nil
        ) {
            precondition(maxLimboResolutions > 0 && maxPendingWrites > 0)
            self.database = database
            self.cacheFile = cacheFile
            self.label = label
            self.maxLimboResolutions = maxLimboResolutions
            self.maxPendingWrites = maxPendingWrites
            self.token = token
        }
    }

    public struct ListenOptions: Hashable, Sendable {
        public var includeMetadataChanges: Bool
        /// `.cache` never asks the server. `.server` waits for it with the first snapshot, unless
        /// it is known to be out of reach.
        public var source: ReadSource

        public init(includeMetadataChanges: Bool = false, source: ReadSource = .default) {
            self.includeMetadataChanges = includeMetadataChanges
            self.source = source
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
    /// - Throws: ``SyncError/storage(message:)`` when the cache cannot be opened.
    public init(_ configuration: Configuration, _ environment: SyncEnvironment) throws(SyncError) {
        do { core = try EngineCore(configuration, environment) } catch {
            throw SyncError(storing: error)
        }
        scheduler = environment.scheduler
        perform { $0.start() }
    }

    let core: EngineCore
    private let scheduler: any EngineScheduler
    private let nextListener = Atomic<UInt64>(0)

    func perform(_ job: @escaping @Sendable (EngineCore) -> Void) {
        let core = core
        scheduler.enqueue { job(core) }
    }

    /// Listens to a query until the returned handle is cancelled. The first snapshot comes from the
    /// cache when it holds anything. A failure is the last event.
    public func listen(
        _ query: Query, _ options: ListenOptions = ListenOptions(),
        observer: @escaping @Sendable (Result<ViewSnapshot, SyncError>) -> Void
    ) -> any CancellableCall {
        let id = nextListener.wrappingAdd(1, ordering: .relaxed).newValue
        perform { $0.addListener(id, query, options, observer) }
        return ListenerHandle(id: id, core: core, scheduler: scheduler)
    }

    /// Listens to one document; its snapshots have at most one row. As ``listen(_:_:observer:)``.
    public func listen(
        document path: DocumentPath, _ options: ListenOptions = ListenOptions(),
        observer: @escaping @Sendable (Result<ViewSnapshot, SyncError>) -> Void
    ) -> any CancellableCall {
        listen(.document(path, in: core.database), options, observer: observer)
    }

    /// Reads a query's rows once.
    ///
    /// - Parameter deadline: From now; then the cache answers, with the reason. Nil waits for the
    ///   server as long as it is thought to be reachable.
    public func read(
        _ query: Query, source: ReadSource, deadline: Duration?,
        completion: @escaping @Sendable (Result<ReadResult, SyncError>) -> Void
    ) {
        perform { $0.read(.query(query), source, deadline, completion) }
    }

    /// Reads one document once; a missing one is an answer with no rows.
    public func read(
        document path: DocumentPath, source: ReadSource, deadline: Duration?,
        completion: @escaping @Sendable (Result<ReadResult, SyncError>) -> Void
    ) {
        perform { $0.read(.document(path), source, deadline, completion) }
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
        completion: @escaping @Sendable (Result<AggregationReply, SyncError>) -> Void
    ) {
        perform { $0.aggregate(query, aggregations, deadline, completion) }
    }

    /// Fetches a query from the server with one call (no listen), puts its rows into the cache, and
    /// stores `records` in the same transaction: how a feed keeps its state true to its documents.
    ///
    /// - Parameter records: From the rows and the read time, what to store under which keys of
    ///   ``record(forKey:completion:)``; called on the engine's executor, once, when all has
    ///   arrived. Nothing is stored when the call fails half way.
    public func fetch(
        _ query: Query, deadline: Duration?,
        records: @escaping @Sendable ([Document], _ readTime: Timestamp) -> [String: [UInt8]],
        completion: @escaping @Sendable (Result<ReadResult, SyncError>) -> Void
    ) {
        perform { $0.fetch(query, deadline, records, completion) }
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

    /// Makes the indexes now that idle moments would make, so that a measurement finds them made.
    package func finishIndexes(completion: @escaping @Sendable () -> Void) {
        perform { core in
            core.finishIndexes()
            completion()
        }
    }

    /// Stops everything and closes the cache. Later calls fail with ``SyncError/terminated``.
    public func terminate(completion: @escaping @Sendable () -> Void) {
        perform { $0.terminate(completion) }
    }
}

/// A listener, to be cancelled. Events that are under way on the engine's executor still arrive.
private final class ListenerHandle: CancellableCall {
    private let id: UInt64
    let core: EngineCore
    private let scheduler: any EngineScheduler

    init(id: UInt64, core: EngineCore, scheduler: any EngineScheduler) {
        self.id = id
        self.core = core
        self.scheduler = scheduler
    }

    func cancel() {
        let (id, core) = (id, core)
        scheduler.enqueue { core.removeListener(id) }
    }
}
