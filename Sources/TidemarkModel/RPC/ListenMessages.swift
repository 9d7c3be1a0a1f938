/// What a client asks of a listen stream.
public enum ListenRequest: Hashable, Sendable {
    /// `labels` tell the server why, as in `goog-listen-tags`.
    case add(ListenTarget, labels: [String: String])
    case remove(targetID: Int32)
    /// A target that a server could not read, and why: it is refused alone.
    case unreadable(targetID: Int32, RPCStatus)
}

/// Something to watch: a query or some documents, and what the client holds of it.
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

    /// The client's, unique on its stream; 0 lets the server choose.
    public var id: Int32
    public var kind: Kind
    public var resume: Resume
    /// How many matches the client holds, when it resumes: lets the server notice a difference.
    public var expectedCount: Int32?
    /// Whether the server removes the target once it is current.
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

/// What a server says on a listen stream; the clients' word for it is a watch change.
public enum ListenResponse: Hashable, Sendable {
    case targetChange(TargetChange)
    case documentChange(DocumentChange)
    case documentDelete(DocumentRemoval)
    /// Like a delete, but the document may go on existing outside the targets.
    case documentRemove(DocumentRemoval)
    case existenceFilter(ExistenceFilter)
}

public struct TargetChange: Hashable, Sendable {
    public enum Kind: Int32, Hashable, Sendable {
        case noChange = 0
        case add, remove, current, reset
    }

    public var kind: Kind
    /// Empty for all targets of the stream.
    public var targetIDs: [Int32]
    /// Why the server removed the targets; nil when it was asked to.
    public var cause: RPCStatus?
    /// Empty for none.
    public var resumeToken: [UInt8]
    /// Of a consistent snapshot over all targets, when `targetIDs` is empty.
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

/// How many documents match a target, so that a client can tell whether it missed a removal.
public struct ExistenceFilter: Hashable, Sendable {
    public var targetID: Int32
    public var count: Int32
    /// Which names still match, nearly surely; nil when the server left it out.
    public var unchangedNames: BloomFilterBits?

    public init(targetID: Int32, count: Int32, unchangedNames: BloomFilterBits? = nil) {
        self.targetID = targetID
        self.count = count
        self.unchangedNames = unchangedNames
    }
}

/// A bloom filter as it came over the wire, unchecked.
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

/// What a client sends on a write stream. The first holds nothing but the database.
public struct WriteRequest: Hashable, Sendable {
    public var streamID: String
    public var streamToken: [UInt8]
    public var mutations: [Mutation]

    public init(streamID: String = "", streamToken: [UInt8] = [], mutations: [Mutation] = []) {
        self.streamID = streamID
        self.streamToken = streamToken
        self.mutations = mutations
    }
}

/// What a server answers on a write stream: one for each request, in order.
public struct WriteResponse: Hashable, Sendable {
    public var streamID: String
    public var streamToken: [UInt8]
    public var results: [MutationResult]
    /// Nil in the answer to the first request.
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
