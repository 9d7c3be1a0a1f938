public import Tidemark

/// One item of a feed.
public struct FeedItem: Sendable, Identifiable, Hashable {
    /// The document's path, unique in any feed.
    public var id: String { document.reference.path }
    /// The item's own time; the first instant of year 1 where the field holds no time.
    public var time: Timestamp { row.time }
    public var document: QueryDocumentSnapshot { row.content }
    /// Newer than what the user has consumed.
    public var isUnread: Bool { row.isUnread }
    public var hasPendingWrites: Bool { row.hasPendingWrites }

    private let row: FeedRow<QueryDocumentSnapshot>

    init(_ row: FeedRow<QueryDocumentSnapshot>) { self.row = row }
}

/// Where a feed stands with the server.
public enum FeedPhase: Hashable, Sendable {
    /// Nothing was read yet, from disk or server.
    case loading
    /// What the device holds; `age` is the time since it was last known to be complete, nil when it
    /// never was. Until the server has answered in this launch it is by the device's clock.
    case stale(age: Duration?)
    /// Complete as of the server's `readTime`.
    case fresh(readTime: Timestamp)
    /// The last read failed; what the device holds is shown.
    case failed(FirestoreError)
}

/// A feed at one moment.
public struct FeedState: Hashable, Sendable {
    /// The window: the newest of what is held, newest first; equal times by document path; each
    /// once.
    public internal(set) var items: [FeedItem]
    /// Whether there is more below the last item, for ``Feed/loadMore(_:)`` to show: on the device, or, in
    /// a feed with a limit, on the server.
    public internal(set) var hasMore = false
    /// Of all that is held, whether it is in the window or below it. While ``Feed/open()`` is still
    /// counting below, at least those in the window.
    public internal(set) var unreadCount = 0
    public internal(set) var phase: FeedPhase

    init(_ shown: FeedMachine<QueryDocumentSnapshot>.Shown) {
        items = shown.rows.map(FeedItem.init)
        hasMore = shown.hasMore
        unreadCount = shown.unreadCount
        phase = shown.phase
    }
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
    /// Whether it stopped at its reason's reads, with more to be read: the next one goes on.
    public internal(set) var isCut = false
}
