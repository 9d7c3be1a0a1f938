package import TidemarkModel

/// The engine for as long as the present user is its user; every call after fails with
/// ``SyncError/userChanged``. For whoever keeps something of the user's in memory, so that it is not
/// stored for the next one.
package struct UserSession: Sendable {
    private let engine: SyncEngine
    private let number: UInt64

    init(_ engine: SyncEngine, _ number: UInt64) {
        self.engine = engine
        self.number = number
    }

    /// - Parameter isOfQueue: Whether it is one user's also where users share a cache, as the queue of
    ///   writes is.
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

    /// Begins something that lasts, until the returned handle is cancelled.
    func subscribe(
        _ refused: @escaping @Sendable (Result<Void, SyncError>) -> Void,
        _ start: @escaping @Sendable (EngineCore, UInt64) -> Void,
        end: @escaping @Sendable (EngineCore, UInt64) -> Void = { $0.removeListener($1) }
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

    /// As of ``SyncEngine``, like all that follow.
    package func fetch(
        _ query: Query, deadline: Duration?, tag: ReadTag = ReadTag(),
        records: @escaping @Sendable ([Document], _ readTime: Timestamp) -> [String: [UInt8]],
        completion: @escaping @Sendable (Result<ReadResult, SyncError>) -> Void
    ) {
        perform(completion) { core in
            core.fetch { $0.fetch(query, deadline, tag, records, completion) }
        }
    }

    /// As ``fetch(_:deadline:records:completion:)``, and what the cache has besides in the part that
    /// `replacing` names is forgotten: a query whose rows the documents are, all of them.
    package func fetch(
        _ query: Query, deadline: Duration?, tag: ReadTag = ReadTag(),
        replacing: @escaping @Sendable ([Document]) -> Query?,
        records: @escaping @Sendable ([Document], _ readTime: Timestamp) -> [String: [UInt8]],
        completion: @escaping @Sendable (Result<ReadResult, SyncError>) -> Void
    ) {
        perform(completion) { core in
            core.fetch {
                $0.fetch(query, deadline, tag, records, replacing: replacing, completion)
            }
        }
    }

    package func record(
        forKey key: String, completion: @escaping @Sendable (Result<[UInt8]?, SyncError>) -> Void
    ) {
        perform(completion) { core in completion(core.cached { try $0.records.value(forKey: key) })
        }
    }

    /// - Parameter kept: The query whose documents the record speaks of: from then on they stay,
    ///   however large the cache is.
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
        perform(completion) { core in core.fromCache { $0.counts(of: queries, completion) } }
    }

    /// Has changes of the cache noted, until the returned handle is cancelled.
    package func follow(_ changes: CacheChanges) -> any CancellableCall {
        subscribe({ _ in }) {
            $0.follow($1, changes)
        } end: {
            $0.unfollow($1)
        }
    }

    /// How documents look: those asked for, those of a query with pending writes, and those that have
    /// changed since this was last asked. Gets nil where more has changed than is remembered.
    ///
    /// - Parameter query: Nil for no pending writes but those among the others.
    package func cachedDocuments(
        at paths: [DocumentPath], andIn changes: CacheChanges, andWrittenIn query: Query?,
        completion: @escaping @Sendable (Result<[DocumentPath: ViewDocument?]?, SyncError>) -> Void
    ) {
        perform(completion) { core in
            core.fromCache {
                completion($0.documents(at: paths, andIn: changes, andWrittenIn: query))
            }
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

/// Counts the changes of the user as they are asked for, from any thread.
struct SessionCounter: Sendable {
    private(set) var number: UInt64 = 0
    private var user: UserKey

    init(user: String?) { self.user = UserKey(user) }

    mutating func change(to next: String?) {
        guard CacheFiles.fault(of: next) == nil, UserKey(next) != user else { return }
        user = UserKey(next)
        number += 1
    }
}
