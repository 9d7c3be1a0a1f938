package import TidemarkModel
package import TidemarkStore

/// The first rows of a query that the cache holds.
package struct CachedRows: Sendable {
    /// In the query's order.
    package var documents: [ViewDocument]
    /// Whether the cache holds another row behind them.
    package var hasMore: Bool
    /// Documents and index entries looked at for it.
    package var rowsScanned: Int
}

/// What lies on the disk and in the queue, for tests that work out by themselves what is to be shown.
package struct CacheContents: Sendable {
    package struct Batch: Sendable {
        package let localWriteTime: Timestamp
        package let baseMutations: [Mutation]
        package let mutations: [Mutation]
    }

    /// As they were stored, without the writes that are pending.
    package let documents: [StoredDocument]
    /// Of the present user, in order.
    package let batches: [Batch]
}
