import TidemarkModel
import TidemarkStore

/// What this device knows of a document: the server's version with the pending writes on top.
struct LocalDocument: Equatable, Sendable {
    var path: DocumentPath
    /// Nil when nothing is known of it.
    var kind: StoredDocument.Kind?
    /// Empty unless found.
    var contents: EncodedFields
    var createTime: Timestamp
    /// The server's version below the pending writes.
    var version: Timestamp
    /// When the server last spoke of it; nil when it never did.
    var readTime: Timestamp?
    var hasLocalMutations = false
    var hasCommittedMutations = false

    /// Nothing is known of it.
    init(unknown path: DocumentPath) {
        self.path = path
        kind = nil
        contents = .empty
        createTime = .epoch
        version = .epoch
        readTime = nil
    }

    init(_ stored: consuming StoredDocument) {
        path = stored.path
        kind = stored.kind
        contents = stored.contents
        createTime = stored.createTime
        version = stored.updateTime
        readTime = stored.readTime
        hasCommittedMutations = stored.hasCommittedMutations
    }

    var isFound: Bool { kind == .found }

    /// - Precondition: The query reads its collection.
    func isRow(of query: PreparedQuery) -> Bool {
        isFound && query.matches(inside: path, among: contents)
    }

    /// Nil unless it was found.
    var viewDocument: ViewDocument? {
        isFound ? shown : nil
    }

    /// As ``viewDocument``, of one that is known to be found.
    var shown: ViewDocument {
        ViewDocument(
            Document(path: path, contents: contents, createTime: createTime, updateTime: version),
            hasLocalMutations: hasLocalMutations, hasCommittedMutations: hasCommittedMutations)
    }
}
