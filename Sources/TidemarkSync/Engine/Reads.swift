public import TidemarkModel

/// The source of a read.
public enum ReadSource: Hashable, Sendable {
    /// The server within a deadline, otherwise the cache.
    case `default`
    case server
    case cache
}

/// The degree to which an answer is the server's present state.
public enum Freshness: Hashable, Sendable {
    /// The server's answer as of `readTime`.
    case fresh(readTime: Timestamp)
    /// The cache's answer. `age` is the time since the server last confirmed it; nil if the server
    /// never did, or if the cache never had the complete result.
    case stale(age: Duration?, reason: StaleReason)

    public var isFresh: Bool { if case .fresh = self { true } else { false } }
}

public enum StaleReason: Hashable, Sendable {
    case askedForCache
    case offline
    /// The server had not answered by the deadline.
    case deadlinePassed
    case failed(RPCStatus)
    /// A budget of reads is used up and allows the cache only.
    case overBudget(ReadBudget)
    /// A listener caused an endless number of reads. The server is asked again after a pause.
    case readStorm(ReadCause)
}

/// A document as a client shows it: the server's version with the pending writes on top.
public struct ViewDocument: Hashable, Sendable {
    public var document: Document
    /// True if a local write is not yet sent or acknowledged.
    public var hasLocalMutations: Bool
    /// True if a write is acknowledged but not yet confirmed by a listen.
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

/// The answer of a one-shot read of a query, or of a document with at most one row.
public struct ReadResult: Hashable, Sendable {
    public var documents: [ViewDocument]
    public var freshness: Freshness
    /// For a document read from the cache, true if the cache knows whether it exists.
    public var isKnown: Bool

    public init(documents: [ViewDocument], freshness: Freshness, isKnown: Bool = true) {
        self.documents = documents
        self.freshness = freshness
        self.isKnown = isKnown
    }
}

/// The reason why the engine could not do what was requested.
public enum SyncError: Error, Hashable, Sendable {
    /// The server rejected the request or could not be reached.
    case server(RPCStatus)
    /// The cache failed.
    case storage(StorageFault)
    case invalidArgument(String)
    /// The queue has reached its maximum number of writes. Some must be acknowledged first.
    case queueFull(limit: Int)
    /// The cache does not have the data, and the server was not or could not be asked.
    case notInCache(reason: StaleReason)
    case terminated
    /// The client is suspended and its cache's file is closed. ``SyncEngine/resume()`` opens the
    /// file again.
    case suspended
    /// The request was for another user than the present one, or was made while the user changed.
    case userChanged
    /// A budget of reads is used up for today.
    case overBudget(ReadBudget)
}
