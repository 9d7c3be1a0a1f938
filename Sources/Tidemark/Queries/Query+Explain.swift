extension Query {
    /// Runs the query on the cache and reports which index it used, how many rows it looked at and
    /// returned, and how long that took. Costs no reads; the query runs twice.
    public func explainCached() async throws(FirestoreError) -> CacheExplanation {
        let query = try runnable()
        return try await answer { firestore.engine.explainCached(query, completion: $0) }
    }
}
