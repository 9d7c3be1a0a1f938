/// What ``Query/download(within:)`` has put into the cache.
public typealias DownloadedRows = TidemarkSync.DownloadedRows

extension Query {
    /// Reads the rows from the server into the cache, and hands none over: for results that are larger
    /// than what fits into memory. Costs one read a row that the server sends, and at least one.
    ///
    /// Rows are stored as they come, so that what came stays whatever happens next; a connection that
    /// breaks is resumed behind the last row. What it keeps in memory grows by 8 to 16 bytes a row.
    /// Documents that are no rows any more are forgotten at the end. Afterwards reads and aggregations
    /// from the cache find all rows.
    ///
    /// - Parameter deadline: How long it may take in all; nil for as long as rows come, with no more than
    ///   ``FirestoreSettings/readDeadline`` between two of them.
    public func download(
        within deadline: Duration? = nil
    ) async throws(FirestoreError) -> DownloadedRows {
        let query = try runnable()
        return try await answer { finish in
            firestore.engine.download(
                query, deadline: deadline, silence: firestore.readDeadline, tag: tag.inScope,
                completion: finish)
        }
    }
}
