/// What ``Query/download(within:)`` has put into the cache.
public typealias DownloadedRows = TidemarkSync.DownloadedRows

extension Query {
    /// Reads the rows from the server into the cache without returning them, for results that do
    /// not fit into memory. Costs one read for each row that the server sends, at least one.
    ///
    /// Rows are stored as they arrive and stay if the download fails. A broken connection is
    /// resumed after the last row. Memory grows by 8 to 16 bytes for each row. Documents that are
    /// no longer rows are removed at the end. Afterwards, reads and aggregations from the cache
    /// find all rows.
    ///
    /// - Parameter deadline: The limit of the whole download; nil for as long as rows arrive, with
    ///   at most ``FirestoreSettings/readDeadline`` between two of them.
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
