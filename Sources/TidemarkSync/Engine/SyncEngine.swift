public import TidemarkModel
import TidemarkStore

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

        public init(database: DatabaseID, cacheFile: String?, label: String? = nil) {
            self.database = database
            self.cacheFile = cacheFile
            self.label = label
        }
    }

    public struct ListenOptions: Hashable, Sendable {
        public var includeMetadataChanges: Bool
        /// `.cache` never asks the server.
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
        fatalError("not written yet")
    }

    /// Listens to a query until the returned handle is cancelled. The first snapshot comes from the
    /// cache when it holds anything. A failure is the last event.
    public func listen(
        _ query: Query, _ options: ListenOptions = ListenOptions(),
        observer: @escaping @Sendable (Result<ViewSnapshot, SyncError>) -> Void
    ) -> any CancellableCall { fatalError("not written yet") }

    /// Reads a query's rows once.
    ///
    /// - Parameter deadline: From now; then the cache answers, with the reason. Nil waits for the
    ///   server as long as it is thought to be reachable.
    public func read(
        _ query: Query, source: ReadSource, deadline: Duration?,
        completion: @escaping @Sendable (Result<ReadResult, SyncError>) -> Void
    ) { fatalError("not written yet") }

    /// Reads one document once; a missing one is an answer with no rows.
    public func read(
        document path: DocumentPath, source: ReadSource, deadline: Duration?,
        completion: @escaping @Sendable (Result<ReadResult, SyncError>) -> Void
    ) { fatalError("not written yet") }

    /// Queues mutations as one batch, to be applied together. `observer` gets `journalled`, then
    /// `acknowledged` or `failed`; a batch found in the queue after a restart has no observer.
    public func write(
        _ mutations: [Mutation], observer: @escaping @Sendable (WriteEvent) -> Void
    ) { fatalError("not written yet") }

    /// Runs an aggregation on the server.
    public func aggregate(
        _ query: Query, _ aggregations: [Aggregation], deadline: Duration?,
        completion: @escaping @Sendable (Result<AggregationReply, SyncError>) -> Void
    ) { fatalError("not written yet") }

    /// Fetches a query from the server with one call (no listen), puts its rows into the cache, and
    /// stores `records` in the same transaction: how a feed keeps its state true to its documents.
    ///
    /// - Parameter records: From the rows and the read time, what to store under which keys of
    ///   ``record(forKey:completion:)``; called on the engine's executor, once, when all has arrived.
    ///   Nothing is stored when the call fails half way.
    public func fetch(
        _ query: Query, deadline: Duration?,
        records: @escaping @Sendable ([Document], _ readTime: Timestamp) -> [String: [UInt8]],
        completion: @escaping @Sendable (Result<ReadResult, SyncError>) -> Void
    ) { fatalError("not written yet") }

    /// Reads a record of the engine's users: small state kept beside the documents it speaks of.
    public func record(
        forKey key: String, completion: @escaping @Sendable (Result<[UInt8]?, SyncError>) -> Void
    ) { fatalError("not written yet") }

    /// Stores a record; nil removes it.
    public func setRecord(
        _ value: [UInt8]?, forKey key: String,
        completion: @escaping @Sendable (SyncError?) -> Void
    ) { fatalError("not written yet") }

    public func setNetworkEnabled(_ enabled: Bool, completion: @escaping @Sendable () -> Void) {
        fatalError("not written yet")
    }

    /// Called when all writes that are pending now have been acknowledged or rejected.
    public func waitForPendingWrites(completion: @escaping @Sendable (SyncError?) -> Void) {
        fatalError("not written yet")
    }

    /// Stops everything and closes the cache. Later calls fail with ``SyncError/terminated``.
    public func terminate(completion: @escaping @Sendable () -> Void) {
        fatalError("not written yet")
    }
}
