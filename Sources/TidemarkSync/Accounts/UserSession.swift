package import TidemarkModel

/// The engine for one session of a user. After a change of user, every call fails with
/// ``SyncError/userChanged``. Used by code that keeps the user's data in memory, so that the data
/// is not stored for the next user.
package struct UserSession: Sendable {
    private let engine: SyncEngine
    private let number: UInt64
    /// The bytes of the user's id; empty for no user.
    package let user: [UInt8]

    init(_ engine: SyncEngine, _ sessions: SessionCounter) {
        self.engine = engine
        number = sessions.number
        user = sessions.user.bytes
    }

    /// - Parameter isOfQueue: True if the call concerns the user's queue of writes, which is
    ///   separate even if users share a cache.
    func perform<Success: Sendable>(
        _ completion: @escaping @Sendable (Result<Success, SyncError>) -> Void,
        isOfQueue: Bool = false, _ body: @escaping @Sendable (EngineCore) -> Void
    ) {
        engine.perform { [number] core in
            guard core.serves(session: number, isOfQueue: isOfQueue) else {
                return completion(.failure(.userChanged))
            }
            body(core)
        }
    }

    /// Starts a subscription, which lasts until the returned handle is cancelled.
    func subscribe(
        _ refused: @escaping @Sendable (Result<Void, SyncError>) -> Void,
        _ start: @escaping @Sendable (EngineCore, UInt64) -> Void,
        end: @escaping @Sendable (EngineCore, UInt64) -> Void = { $0.parts.listeners.remove($1) }
    ) -> any CancellableCall {
        engine.subscribe { [number] core, id in
            guard core.serves(session: number) else {
                return refused(.failure(.userChanged))
            }
            start(core, id)
        } end: {
            end($0, $1)
        }
    }

    var database: DatabaseID { engine.core.database }
    var elapsed: Duration { engine.scheduler.elapsed }
    func jitter() -> Double { engine.core.environment.random() }
    #if TIDEMARK_DEFECTS
        var defects: PlantedDefects { engine.core.environment.defects }
    #endif

    func schedule(
        _ id: TimerID, after delay: Duration, _ job: @escaping @Sendable () -> Void
    ) -> any CancellableCall {
        engine.scheduler.schedule(id, after: delay, job)
    }

    private static func result(
        _ completion: @escaping @Sendable (SyncError?) -> Void
    ) -> @Sendable (Result<Void, SyncError>) -> Void {
        { result in
            if case .failure(let error) = result { completion(error) } else { completion(nil) }
        }
    }

    /// Like the function of ``SyncEngine``. The same applies to the functions below.
    package func fetch(
        _ query: Query, deadline: Duration?, tag: ReadTag = ReadTag(),
        records: @escaping @Sendable ([Document], _ readTime: Timestamp) -> [String: [UInt8]],
        completion: @escaping @Sendable (Result<ReadResult, SyncError>) -> Void
    ) {
        perform(completion) { core in
            core.parts.fetches.fetch(
                query, deadline: deadline, tag: tag, records: records, completion: completion)
        }
    }

    /// Like ``fetch(_:deadline:records:completion:)``. Also removes other documents from the cache
    /// in the query that `replacing` returns, because the fetched documents are all of its rows.
    package func fetch(
        _ query: Query, deadline: Duration?, tag: ReadTag = ReadTag(),
        replacing: @escaping @Sendable ([Document]) -> Query?,
        records: @escaping @Sendable ([Document], _ readTime: Timestamp) -> [String: [UInt8]],
        completion: @escaping @Sendable (Result<ReadResult, SyncError>) -> Void
    ) {
        perform(completion) { core in
            core.parts.fetches.fetch(
                query, deadline: deadline, tag: tag, records: records, replacing: replacing,
                completion: completion)
        }
    }

    package func record(
        forKey key: String, completion: @escaping @Sendable (Result<[UInt8]?, SyncError>) -> Void
    ) {
        perform(completion) { core in completion(core.cached { try $0.records.value(forKey: key) })
        }
    }

    /// - Parameter kept: The query whose documents the record describes. From then on they stay in
    ///   the cache, whatever its size.
    package func setRecord(
        _ value: [UInt8]?, forKey key: String, keeping kept: Query? = nil,
        completion: @escaping @Sendable (SyncError?) -> Void
    ) {
        perform(Self.result(completion)) { core in
            completion(core.stored { try $0.records.set(value, forKey: key, keeping: kept) }.error)
        }
    }

    package func declareIndexes(
        for queries: [Query], completion: @escaping @Sendable (SyncError?) -> Void
    ) {
        let end = Self.result(completion)
        perform(end) { core in end(core.cached { try $0.documents.declareIndexes(for: queries) }) }
    }

    package func cachedRows(
        of query: Query, first count: Int, where isWanted: @escaping @Sendable (Document) -> Bool,
        completion: @escaping @Sendable (Result<CachedRows, SyncError>) -> Void
    ) {
        perform(completion) { core in
            completion(
                core.cached { try $0.documents.rows(of: query, first: count, where: isWanted) })
        }
    }

    package func cachedCounts(
        of queries: [Query], completion: @escaping @Sendable (Result<[Int], SyncError>) -> Void
    ) {
        perform(completion) { core in core.parts.cache.counts(of: queries, completion) }
    }

    /// Records changes of the cache until the returned handle is cancelled.
    package func follow(_ changes: CacheChanges) -> any CancellableCall {
        subscribe({ _ in }) {
            $0.parts.views.follow($1, changes)
        } end: {
            $0.parts.views.unfollow($1)
        }
    }

    /// Returns the current state of documents: the given ones, those of a query with pending
    /// writes, and those that changed since the last call. Returns nil if more documents changed
    /// than are recorded.
    ///
    /// - Parameter query: The query with pending writes; nil for none.
    package func cachedDocuments(
        at paths: [DocumentPath], andIn changes: CacheChanges, andWrittenIn query: Query?,
        completion: @escaping @Sendable (Result<[DocumentPath: ViewDocument?]?, SyncError>) -> Void
    ) {
        perform(completion) { core in
            completion(
                core.parts.cache.documents(at: paths, andIn: changes, andWrittenIn: query))
        }
    }

    package func cachedDocuments(
        at paths: [DocumentPath], andWrittenIn query: Query,
        completion: @escaping @Sendable (Result<[DocumentPath: ViewDocument?], SyncError>) -> Void
    ) {
        perform(completion) { core in
            completion(core.cached { try $0.documents.documents(at: paths, andWrittenIn: query) })
        }
    }
}

/// Counts changes of user when they are requested, from any thread.
struct SessionCounter: Sendable {
    private(set) var number: UInt64 = 0
    private(set) var user: UserKey

    init(user: String?) { self.user = UserKey(user) }

    mutating func change(to next: String?) {
        guard CacheFiles.fault(of: next) == nil, UserKey(next) != user else { return }
        user = UserKey(next)
        number += 1
    }
}
