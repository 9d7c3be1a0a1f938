/// Counts of what a world compared of live pipelines.
package struct WorldLiveFigures: CustomStringConvertible, Sendable {
    package var started = 0
    /// The number of comparisons with the cache and pending writes.
    package var looks = 0
    package var rows = 0
    /// The number of those comparisons without a network or without a server.
    package var offline = 0
    /// The number of pipelines compared for the first time after a kill or a new start.
    package var afterKills = 0
    /// The number of comparisons that an acknowledged write made impossible.
    package var waiting = 0
    /// The number of comparisons with the server's data at a read time.
    package var fresh = 0
    /// The number of pipelines compared with the server at the end.
    package var converged = 0

    package init() {}

    package static func += (left: inout Self, right: Self) {
        left.started += right.started
        left.looks += right.looks
        left.rows += right.rows
        left.offline += right.offline
        left.afterKills += right.afterKills
        left.waiting += right.waiting
        left.fresh += right.fresh
        left.converged += right.converged
    }

    /// Returns the names of the counts that are lower than `worlds` worlds should reach.
    package func lack(worlds: Int) -> [String] {
        let least: [(String, Int, Int)] = [
            ("started", started, 4), ("looks", looks, 10), ("rows", rows, 10),
            ("offline", offline, 1), ("after kills", afterKills, 1), ("fresh", fresh, 3),
            ("converged", converged, 2),
        ]
        return least.filter { $0.1 < worlds * $0.2 }.map(\.0)
            + (waiting * 10 > looks ? ["looks without a write that waits"] : [])
    }

    package var description: String {
        """
        \(started) live pipelines, \(looks) looks at them with \(rows) rows (\(waiting) beside a write \
        that waits), \(offline) without a network or a server, \(afterKills) first ones after a kill, \
        \(fresh) compared with the server at their read time, \(converged) at the end
        """
    }
}
