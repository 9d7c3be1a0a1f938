public import TidemarkModel

/// Where a read may look.
public enum ReadSource: Hashable, Sendable {
    /// The server under a deadline, else the cache.
    case `default`
    case server
    case cache
}

/// How far an answer can be trusted to be the server's present state.
public enum Freshness: Hashable, Sendable {
    /// The server's answer as of `readTime`.
    case fresh(readTime: Timestamp)
    /// The cache's. `age` is the time since the server last confirmed it; nil when it never did, or
    /// when what it holds was never known to be complete.
    case stale(age: Duration?, reason: StaleReason)

    public var isFresh: Bool { if case .fresh = self { true } else { false } }
}

public enum StaleReason: Hashable, Sendable {
    case askedForCache
    case offline
    /// The server had not answered by the deadline.
    case deadlinePassed
    case failed(RPCStatus)
    /// A budget of reads is used up, and says that the cache shall do.
    case overBudget(ReadBudget)
    /// What the server sends would cost without an end: it is asked again after a pause.
    case readStorm(ReadCause)
}

/// A document as a client shows it: the server's version with the pending writes on top.
public struct ViewDocument: Hashable, Sendable {
    public var document: Document
    /// Written here and not yet sent or acknowledged.
    public var hasLocalMutations: Bool
    /// Acknowledged, and not yet confirmed by a listen.
    public var hasCommittedMutations: Bool

    public init(
        _ document: Document, hasLocalMutations: Bool = false, hasCommittedMutations: Bool = false
    ) {
        self.document = document
        self.hasLocalMutations = hasLocalMutations
        self.hasCommittedMutations = hasCommittedMutations
    }

    public var path: DocumentPath { document.path }
    public var hasPendingWrites: Bool { hasLocalMutations }
}

public struct ViewChange: Hashable, Sendable {
    public enum Kind: Hashable, Sendable { case added, modified, removed, metadata }

    public var kind: Kind
    public var document: ViewDocument

    public init(_ kind: Kind, _ document: ViewDocument) {
        self.kind = kind
        self.document = document
    }
}

/// The answer of a one-shot read of a query or, with at most one row, of a document.
public struct ReadResult: Hashable, Sendable {
    public var documents: [ViewDocument]
    public var freshness: Freshness
    /// For a document read from the cache: whether it is known there at all, missing or not.
    public var isKnown: Bool

    public init(documents: [ViewDocument], freshness: Freshness, isKnown: Bool = true) {
        self.documents = documents
        self.freshness = freshness
        self.isKnown = isKnown
    }
}

/// Why the engine could not do what it was asked.
public enum SyncError: Error, Hashable, Sendable {
    /// The server refused, or could not be reached.
    case server(RPCStatus)
    /// The cache could not do it.
    case storage(StorageFault)
    case invalidArgument(String)
    /// The queue holds as many writes as it may; some must be acknowledged first.
    case queueFull(limit: Int)
    /// The cache does not hold it, and the server was not or could not be asked.
    case notInCache(reason: StaleReason)
    case terminated
    /// The client is suspended, and its cache's file is closed: ``SyncEngine/resume()`` opens it again.
    case suspended
    /// It was asked for another user than the present one, or while the user was being changed.
    case userChanged
    /// A budget of reads is used up for today.
    case overBudget(ReadBudget)
}
