import TidemarkModel
import TidemarkStore

/// The reason for a listen, sent to the server as a label.
enum ListenPurpose: Hashable, Sendable {
    case listen
    case existenceFilterMismatch
    case existenceFilterMismatchBloom
    case limboResolution

    /// Source: `core/remote/serializer.cc`.
    var labels: [String: String] {
        switch self {
        case .listen: [:]
        case .existenceFilterMismatch: ["goog-listen-tags": "existence-filter-mismatch"]
        case .existenceFilterMismatchBloom:
            ["goog-listen-tags": "existence-filter-mismatch-bloom"]
        case .limboResolution: ["goog-listen-tags": "limbo-document"]
        }
    }
}

/// The changes of one target's rows since the last consistent snapshot.
struct TargetDelta: Equatable, Sendable {
    var added: Set<DocumentPath> = []
    var modified: Set<DocumentPath> = []
    var removed: Set<DocumentPath> = []
    var isCurrent = false
    /// The newest token of this listen; empty if there was none.
    var resumeToken: [UInt8] = []

    var hasChanges: Bool { !added.isEmpty || !removed.isEmpty || !modified.isEmpty }
}

/// A document in the form of the server's stream.
enum RemoteDocument: Equatable, Sendable {
    case found(Document)
    /// The document was missing at this time. At ``Timestamp/min``, only one fact is known: the
    /// server does not show the document. Then the cache forgets it.
    case missing(DocumentPath, Timestamp)

    var path: DocumentPath {
        switch self {
        case .found(let document): document.path
        case .missing(let path, _): path
        }
    }

    var version: Timestamp {
        switch self {
        case .found(let document): document.updateTime
        case .missing(_, let time): time
        }
    }

    func stored(readTime: Timestamp) -> StoredDocument {
        switch self {
        case .found(let document): StoredDocument(document, readTime: readTime)
        case .missing(let path, let time):
            StoredDocument(
                path: path, kind: .missing, contents: .empty, createTime: .epoch,
                updateTime: time, readTime: readTime)
        }
    }
}

/// One consistent snapshot of all listened targets, as changes since the last one.
struct RemoteEvent: Equatable, Sendable {
    var version: Timestamp
    /// The changes by target id.
    var targets: [Int32: TargetDelta] = [:]
    /// Targets whose rows here differ from the server's rows; they are listened to again from
    /// scratch.
    var mismatches: [Int32: ListenPurpose] = [:]
    var documents: [DocumentPath: RemoteDocument] = [:]
    /// Targets that agree with the server at ``version``, changed or not. After a failure of a
    /// stream, the other targets are still behind.
    var confirmed: Set<Int32> = []
}
