extension Query {
    /// Runs the query on the cache and says how it found its rows: which index, how many rows it looked
    /// at and returned, and how long that took. Reads nothing from the server, and costs nothing but
    /// the time of running it twice.
    public func explainCached() async throws(FirestoreError) -> CacheExplanation {
        let query = try runnable()
        return try await answer { firestore.engine.explainCached(query, completion: $0) }
    }
}
