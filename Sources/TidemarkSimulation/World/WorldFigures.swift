/// How much a world has compared, so that a test can tell an oracle that looks away.
package struct WorldFigures: CustomStringConvertible, Sendable {
    /// Snapshots that were compared with what the server held at their read time.
    package var fresh = 0
    package var freshRows = 0
    /// Versions that were compared with the server's.
    package var versions = 0
    /// Times that what a listener shows was compared with its cache and the writes on top.
    package var listeners = 0
    package var listenerRows = 0
    /// Of those, with a row that still waits for a listen's word.
    package var waiting = 0
    /// Reads of the cache that were compared.
    package var reads = 0
    package var readRows = 0
    /// Documents that were found by their names, and compared.
    package var documents = 0
    /// Snapshots whose changes were added up.
    package var changes = 0
    /// Rows of one's own writes that had to be shown at once.
    package var ownWrites = 0
    /// Listeners that were compared with the server in the end.
    package var converged = 0
    /// Apps that were resumed after they had let go of their file.
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

    /// Of what fewer was compared than so many worlds should have, by name.
    package func lack(worlds: Int) -> [String] {
        // A third of what 200 worlds have compared.
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
