/// Counts of the comparisons that a world made. A test uses them to detect an oracle that checks
/// nothing.
package struct WorldFigures: CustomStringConvertible, Sendable {
    /// The number of snapshots compared with the server's data at their read time.
    package var fresh = 0
    package var freshRows = 0
    /// The number of versions compared with the server's.
    package var versions = 0
    /// The number of times that a listener's rows were compared with its cache and pending writes.
    package var listeners = 0
    package var listenerRows = 0
    /// The number of those comparisons in which a row was still waiting for its listen.
    package var waiting = 0
    /// The number of cache reads compared.
    package var reads = 0
    package var readRows = 0
    /// The number of documents found by name and compared.
    package var documents = 0
    /// The number of snapshots whose changes were applied and compared.
    package var changes = 0
    /// The number of rows of own writes that had to be shown immediately.
    package var ownWrites = 0
    /// The number of listeners compared with the server at the end.
    package var converged = 0
    /// The number of apps resumed after they had released their file.
    package var resumed = 0

    package init() {}

    package static func += (left: inout Self, right: Self) {
        left.fresh += right.fresh
        left.freshRows += right.freshRows
        left.versions += right.versions
        left.listeners += right.listeners
        left.listenerRows += right.listenerRows
        left.waiting += right.waiting
        left.reads += right.reads
        left.readRows += right.readRows
        left.documents += right.documents
        left.changes += right.changes
        left.ownWrites += right.ownWrites
        left.converged += right.converged
        left.resumed += right.resumed
    }

    /// Returns the names of the counts that are lower than `worlds` worlds should reach.
    package func lack(worlds: Int) -> [String] {
        // The minimum is a third of the counts of 200 worlds.
        let least: [(String, Int, Int)] = [
            ("fresh snapshots", fresh, 10), ("rows of them", freshRows, 30),
            ("versions", versions, 6), ("listeners", listeners, 20),
            ("rows of listeners", listenerRows, 35), ("cache reads", reads, 15),
            ("rows of cache reads", readRows, 5), ("sums of changes", changes, 20),
            ("own writes", ownWrites, 1), ("listeners at the end", converged, 6),
            ("resumed apps", resumed, 1),
        ]
        return least.filter { $0.1 < worlds * $0.2 }.map(\.0)
    }

    package var description: String {
        """
        \(fresh) fresh snapshots with \(freshRows) rows, \(versions) versions, \(listeners) looks at \
        listeners with \(listenerRows) rows (\(waiting) beside a write that waits), \(reads) cache reads \
        with \(readRows) rows, \(documents) documents by name, \(changes) sums of changes, \(ownWrites) own writes, \(converged) \
        listeners at the end, \(resumed) apps resumed
        """
    }
}
