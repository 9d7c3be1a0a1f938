/// A request of a client on a listen stream.
public enum ListenRequest: Hashable, Sendable {
    /// Adds a target. `labels` tell the server the reason, for example `goog-listen-tags`.
    case add(ListenTarget, labels: [String: String])
    case remove(targetID: Int32)
    /// A target that the server could not decode, with the error. Only this target is rejected.
    case unreadable(targetID: Int32, RPCStatus)
}

/// A target to watch: a query or some documents, and the state from which the client resumes.
public struct ListenTarget: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        case query(Query)
        case documents([DocumentPath])
    }

    public enum Resume: Hashable, Sendable {
        case fromScratch
        case token([UInt8])
        case readTime(Timestamp)
    }

    /// The client's id for the target, unique on its stream; 0 lets the server choose.
    public var id: Int32
    public var kind: Kind
    public var resume: Resume
    /// The number of matches that the client holds when it resumes. The server uses it to detect a
    /// difference.
    public var expectedCount: Int32?
    /// True if the server removes the target once it is current.
    public var once: Bool

    public init(
        id: Int32, _ kind: Kind, resume: Resume = .fromScratch, expectedCount: Int32? = nil,
        once: Bool = false
    ) {
        self.id = id
        self.kind = kind
        self.resume = resume
        self.expectedCount = expectedCount
        self.once = once
    }
}

/// A response of a server on a listen stream; Firestore's clients call it a watch change.
public enum ListenResponse: Hashable, Sendable {
    case targetChange(TargetChange)
    case documentChange(DocumentChange)
    case documentDelete(DocumentRemoval)
    /// Like a delete, but the document may still exist outside the targets.
    case documentRemove(DocumentRemoval)
    case existenceFilter(ExistenceFilter)
}

public struct TargetChange: Hashable, Sendable {
    public enum Kind: Int32, Hashable, Sendable {
        case noChange = 0
        case add, remove, current, reset
    }

    public var kind: Kind
    /// The affected targets; empty for all targets of the stream.
    public var targetIDs: [Int32]
    /// The reason why the server removed the targets; nil if the client asked for it.
    public var cause: RPCStatus?
    /// The resume token; empty if there is none.
    public var resumeToken: [UInt8]
    /// The read time of a consistent snapshot over all targets, if `targetIDs` is empty.
    public var readTime: Timestamp?

    public init(
        _ kind: Kind, targetIDs: [Int32] = [], cause: RPCStatus? = nil, resumeToken: [UInt8] = [],
        readTime: Timestamp? = nil
    ) {
        self.kind = kind
        self.targetIDs = targetIDs
        self.cause = cause
        self.resumeToken = resumeToken
        self.readTime = readTime
    }
}

public struct DocumentChange: Hashable, Sendable {
    public var document: Document
    public var targetIDs: [Int32]
    public var removedTargetIDs: [Int32]

    public init(_ document: Document, targetIDs: [Int32], removedTargetIDs: [Int32] = []) {
        self.document = document
        self.targetIDs = targetIDs
        self.removedTargetIDs = removedTargetIDs
    }
}

public struct DocumentRemoval: Hashable, Sendable {
    public var path: DocumentPath
    public var removedTargetIDs: [Int32]
    public var readTime: Timestamp?

    public init(_ path: DocumentPath, removedTargetIDs: [Int32], readTime: Timestamp?) {
        self.path = path
        self.removedTargetIDs = removedTargetIDs
        self.readTime = readTime
    }
}

/// The number of documents that match a target. A client uses it to detect a missed removal.
public struct ExistenceFilter: Hashable, Sendable {
    public var targetID: Int32
    public var count: Int32
    /// The names that still match, with a small error rate; nil if the server omitted them.
    public var unchangedNames: BloomFilterBits?

    public init(targetID: Int32, count: Int32, unchangedNames: BloomFilterBits? = nil) {
        self.targetID = targetID
        self.count = count
        self.unchangedNames = unchangedNames
    }
}

/// A bloom filter in its wire form, unchecked.
public struct BloomFilterBits: Hashable, Sendable {
    public var bitmap: [UInt8]
    public var padding: Int32
    public var hashCount: Int32

    public init(bitmap: [UInt8], padding: Int32, hashCount: Int32) {
        self.bitmap = bitmap
        self.padding = padding
        self.hashCount = hashCount
    }
}

/// A request on a write stream. The first request holds only the database.
public struct WriteRequest: Hashable, Sendable {
    public var streamID: String
    public var streamToken: [UInt8]
    public var mutations: [Mutation]
    /// The share of a server's memory that the request takes, wherever it waits.
    package var memory = RequestMemory()

    public init(streamID: String = "", streamToken: [UInt8] = [], mutations: [Mutation] = []) {
        self.streamID = streamID
        self.streamToken = streamToken
        self.mutations = mutations
    }
}

/// Keeps a share of a memory budget for as long as the request exists that it belongs to.
///
/// Any two are equal: a share is no part of what a request asks for.
package struct RequestMemory: Hashable, Sendable {
    private let share: (any AnyObject & Sendable)?

    package init(_ share: (any AnyObject & Sendable)? = nil) { self.share = share }

    package static func == (left: Self, right: Self) -> Bool { true }

    package func hash(into hasher: inout Hasher) {}
}

/// A response on a write stream. The server sends one per request, in order.
public struct WriteResponse: Hashable, Sendable {
    public var streamID: String
    public var streamToken: [UInt8]
    public var results: [MutationResult]
    /// The commit time; nil in the response to the first request.
    public var commitTime: Timestamp?

    public init(
        streamID: String = "", streamToken: [UInt8], results: [MutationResult] = [],
        commitTime: Timestamp? = nil
    ) {
        self.streamID = streamID
        self.streamToken = streamToken
        self.results = results
        self.commitTime = commitTime
    }
}
