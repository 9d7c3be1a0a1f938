import TidemarkModel
import TidemarkStore

/// The plan with which the cache answers a query, and its cost.
public struct CacheExplanation: Hashable, Sendable {
    /// The plan in a sentence: the index used, or that there is none.
    public var plan: String
    /// True if the rows are ranges of indexes in the query's order. The cost then depends only on
    /// the number of returned rows.
    public var isIndexed: Bool
    /// The number of index entries and documents visited, including those with pending writes.
    public var rowsScanned: Int
    public var rowsReturned: Int
    /// The duration of one run, by the engine's clock.
    public var duration: Duration
}

extension CacheExplanation {
    /// - Parameter elapsed: The clock that measures the run.
    init(of query: Query, in local: LocalStore, elapsed: () -> Duration) throws {
        let start = elapsed()
        let rows = try local.documents.run(query)
        duration = elapsed() - start
        rowsReturned = rows.count
        (plan, isIndexed, rowsScanned) = try local.read { transaction in
            let table = transaction.documents(of: local.database)
            let stats = try table.run(query) { _ in true }
            return (
                stats.plan, try table.isIndexed(query),
                stats.rowsScanned + local.queue.pending.paths(in: query).count
            )
        }
    }
}
