import TidemarkModel
import TidemarkStore

/// Why a target is listened to, as the server is told in a label.
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

/// What one target's rows came to since the last consistent snapshot.
struct TargetDelta: Equatable, Sendable {
    var added: Set<DocumentPath> = []
    var modified: Set<DocumentPath> = []
    var removed: Set<DocumentPath> = []
    var isCurrent = false
    /// The newest of this listen; empty when there was none.
    var resumeToken: [UInt8] = []

    var hasChanges: Bool { !added.isEmpty || !removed.isEmpty || !modified.isEmpty }
}

/// A document as the server's stream gave it.
enum RemoteDocument: Equatable, Sendable {
    case found(Document)
    /// Known to be missing as of a time. At ``Timestamp/min`` nothing is known but that the server
    /// does not show it: it is to be forgotten.
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

/// One consistent snapshot of everything that is listened to, as changes since the one before.
struct RemoteEvent: Equatable, Sendable {
    var version: Timestamp
    /// By target id.
    var targets: [Int32: TargetDelta] = [:]
    /// Targets whose rows here cannot be what the server holds; listened to again from scratch.
    var mismatches: [Int32: ListenPurpose] = [:]
    var documents: [DocumentPath: RemoteDocument] = [:]
    /// Targets that hold, changed or not, what the server has at ``version``. After a stream broke, the
    /// others have not caught up yet.
    var confirmed: Set<Int32> = []
}
