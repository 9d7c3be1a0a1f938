import TidemarkModel
import TidemarkStore

/// A document as this device knows it: the server's version, with the pending writes on top.
struct LocalDocument: Equatable, Sendable {
    var path: DocumentPath
    /// The state of the document; nil if it is unknown.
    var kind: StoredDocument.Kind?
    /// The contents; empty unless the document was found.
    var contents: EncodedFields
    var createTime: Timestamp
    /// The server's version below the pending writes.
    var version: Timestamp
    /// The time at which the server last reported the document; nil if it never did.
    var readTime: Timestamp?
    var hasLocalMutations = false
    var hasCommittedMutations = false

    /// Creates an unknown document.
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

    /// True if a field has a server timestamp that the server has not set yet.
    var hasPendingTimes: Bool {
        isFound && hasLocalMutations && contents.decoded.contains { $0.value.hasPendingTime }
    }

    /// - Precondition: The query reads the document's collection.
    func isRow(of query: PreparedQuery) -> Bool {
        isFound && query.matches(inside: path, among: contents)
    }

    /// The document for a view; nil unless it was found.
    var viewDocument: ViewDocument? {
        isFound ? shown : nil
    }

    /// The document for a view, like ``viewDocument``, if it is known to be found.
    var shown: ViewDocument {
        ViewDocument(
            Document(path: path, contents: contents, createTime: createTime, updateTime: version),
            hasLocalMutations: hasLocalMutations, hasCommittedMutations: hasCommittedMutations)
    }
}

extension Value {
    /// True if this is, or contains, a server timestamp that the server has not set yet.
    fileprivate var hasPendingTime: Bool {
        switch self {
        case .pendingServerTimestamp: true
        case .map(let fields): fields.contains { $0.value.hasPendingTime }
        default: false
        }
    }
}
