public import Tidemark

/// One item of a feed.
public struct FeedItem: Sendable, Identifiable, Hashable {
    /// The document's path, unique in any feed.
    public var id: String { document.reference.path }
    /// The item's own time; the first instant of year 1 where the field holds no time.
    public let time: Timestamp
    public let document: QueryDocumentSnapshot
    /// Newer than what the user has consumed.
    public internal(set) var isUnread: Bool

    public var hasPendingWrites: Bool { document.metadata.hasPendingWrites }
}

/// Where a feed stands with the server.
public enum FeedPhase: Hashable, Sendable {
    /// Nothing was read yet, from disk or server.
    case loading
    /// What the device holds; `age` is the time since it was last known to be complete, nil when it
    /// never was.
    case stale(age: Duration?)
    /// Complete as of the server's `readTime`.
    case fresh(readTime: Timestamp)
    /// The last read failed; what the device holds is shown.
    case failed(FirestoreError)
}

/// A feed at one moment.
public struct FeedState: Hashable, Sendable {
    /// Newest first; equal times by document path; each once.
    public internal(set) var items: [FeedItem]
    public internal(set) var phase: FeedPhase

    public var unreadCount: Int { items.count(where: \.isUnread) }
}

/// What a sync came to.
public struct FeedSync: Hashable, Sendable {
    /// What was asked, call by call.
    public internal(set) var plans: [ReadPlan] = []
    /// What the server billed for it: a row each, and at least one a call.
    public internal(set) var reads = 0
    /// Rows that were new here, or new in this version; deleted ones too.
    public internal(set) var changed = 0
    /// As of when everything is held.
    public internal(set) var readTime: Timestamp?
}
