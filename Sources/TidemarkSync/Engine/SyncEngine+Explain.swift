public import TidemarkModel
import TidemarkStore

/// How the cache answers a query, and what that takes.
public struct CacheExplanation: Hashable, Sendable {
    /// The way to the rows in a sentence: which index, or that there is none.
    public var plan: String
    /// Whether the rows are ranges of indexes and come in the query's order: then it costs what it
    /// returns, however many documents there are.
    public var isIndexed: Bool
    /// Index entries or documents looked at, those with pending writes too.
    public var rowsScanned: Int
    public var rowsReturned: Int
    /// Of running it once, by the engine's clock.
    public var duration: Duration
}

extension SyncEngine {
    /// Runs a query on the cache and says how. Costs what running it twice does; asks no server.
    public func explainCached(
        _ query: Query,
        completion: @escaping @Sendable (Result<CacheExplanation, SyncError>) -> Void
    ) {
        perform { core in
            let clock = core.environment.scheduler
            completion(
                core.fromCache { local in
                    let start = clock.elapsed
                    let rows = try local.documents.run(query)
                    let duration = clock.elapsed - start
                    var explanation = try local.documents.explain(query)
                    explanation.rowsReturned = rows.count
                    explanation.duration = duration
                    return explanation
                })
            core.wantIndexes()
        }
    }
}

extension LocalDocuments {
    fileprivate func explain(_ query: Query) throws -> CacheExplanation {
        try read { transaction in
            let table = transaction.documents(of: database)
            let stats = try table.run(query) { _ in true }
            return CacheExplanation(
                plan: stats.plan, isIndexed: try table.isIndexed(query),
                rowsScanned: stats.rowsScanned + pendingPaths(in: query).count,
                rowsReturned: 0, duration: .zero)
        }
    }
}
