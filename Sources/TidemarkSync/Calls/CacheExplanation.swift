import TidemarkModel
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

extension CacheExplanation {
    /// - Parameter elapsed: The clock by which the run is measured.
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
