import Tidemark

/// The documents of a pager's query, as the caller of a plan expects them on the server.
struct PlannedServer: Sendable {
    /// All documents, newest first.
    private(set) var documents: [ExpectedDocument]

    init(_ documents: [ExpectedDocument]) {
        self.documents = documents.sorted { $0.position < $1.position }
    }

    /// Returns the rows of a page.
    ///
    /// - Parameters:
    ///   - place: The row above the page; nil for the newest page.
    ///   - cleared: The time at and below which there are no rows; nil for none.
    func rows(
        after place: PagePosition?, limit: Int, above cleared: Timestamp?
    ) -> [ExpectedDocument] {
        let all = documents.lazy.filter { document in
            (place.map { $0 < document.position } ?? true)
                && (cleared.map { document.time > $0 } ?? true)
        }
        return Array(all.prefix(limit))
    }

    func rows(in range: Range<CoveragePosition>, limit: Int) -> [ExpectedDocument] {
        Array(documents.lazy.filter { $0.isIn(range) }.prefix(limit))
    }

    /// Returns the documents that have changed since a time, the earliest first.
    ///
    /// - Parameter drain: The last document of the call before; nil for the first call.
    func changes(
        since time: Timestamp?, after drain: ChangeCursor.Drain?, limit: Int
    ) -> [ExpectedDocument] {
        let all = documents.filter { document in
            if let drain {
                return (drain.lastChangeTime, drain.lastPath) < (document.changedAt, document.path)
            }
            return time.map { document.changedAt >= $0 } ?? true
        }
        let sorted = all.sorted { ($0.changedAt, $0.path) < ($1.changedAt, $1.path) }
        return Array(sorted.prefix(limit))
    }

    /// The time of the last change of all documents; nil if there are none.
    var lastChange: Timestamp? { documents.map(\.changedAt).max() }

    subscript(path: DocumentPath) -> ExpectedDocument? { documents.first { $0.path == path } }

    /// Replaces documents, adds new ones and removes others.
    mutating func commit(_ changed: [ExpectedDocument], deleting deleted: [DocumentPath]) {
        let paths = Set(changed.map(\.path)).union(deleted)
        documents.removeAll { paths.contains($0.path) }
        self = PlannedServer(documents + changed)
    }
}
