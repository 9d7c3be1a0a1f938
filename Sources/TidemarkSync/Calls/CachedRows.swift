package import TidemarkModel
package import TidemarkStore

/// The first rows of a query in the cache.
package struct CachedRows: Sendable {
    /// The documents, in the query's order.
    package var documents: [ViewDocument]
    /// True if the cache has further rows.
    package var hasMore: Bool
    /// The number of documents and index entries visited.
    package var rowsScanned: Int
}

/// The contents of the disk and the queue, for tests that compute the expected rows themselves.
package struct CacheContents: Sendable {
    package struct Batch: Sendable {
        package let localWriteTime: Timestamp
        package let baseMutations: [Mutation]
        package let mutations: [Mutation]
    }

    /// The stored documents, without pending writes.
    package let documents: [StoredDocument]
    /// The present user's batches, in order.
    package let batches: [Batch]
}
