package import TidemarkModel

/// The results that earlier listeners of a collection and its filters left on the device.
package struct ListenedResults: Sendable {
    package struct Rows: Hashable, Sendable {
        /// The server's time of the listener's last snapshot.
        package let heardAt: Timestamp
        package let paths: [DocumentPath]

        package init(heardAt: Timestamp, paths: [DocumentPath]) {
            self.heardAt = heardAt
            self.paths = paths
        }
    }

    /// The maximum number of results, the newest first.
    static let most = 100

    private var results: [QueryKey: Rows] = [:]

    package init() {}

    mutating func add(_ key: QueryKey, _ rows: Rows) { results[key] = rows }

    /// Adds the result of a query, or replaces it.
    package mutating func put(_ query: Query, _ rows: Rows) {
        add(QueryKey(query.wireForm), rows)
    }

    /// Removes the result of a query, and returns it; nil if the device has none.
    package mutating func take(_ query: Query) -> Rows? {
        results.removeValue(forKey: QueryKey(query.wireForm))
    }
}
