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

        /// True if the server bills a listener that resumes now only for changes.
        ///
        /// - Parameter lastUse: The times at which the last use began and ended, if known: its
        ///   listeners were open until its end.
        package func isRecent(at now: Timestamp, lastUse: ClosedRange<Timestamp>?) -> Bool {
            let end = lastUse.map { heardAt >= $0.lowerBound ? $0.upperBound : .min } ?? .min
            return now.duration(since: max(heardAt, end)) <= ReadBilling.resumeWindow
        }

        /// True if the filter of names, with which the server ends the first answer of an old
        /// listener, does not show which rows have left. The client then reads the result again.
        package func areMisled(by present: [DocumentPath], in database: DatabaseID) -> Bool {
            let gone = Set(paths).subtracting(present)
            if present.isEmpty { return !gone.isEmpty }
            let filter = BloomFilter(names: present.map { $0.name(in: database) })
            return gone.contains { filter.mightContain($0.name(in: database)) }
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
