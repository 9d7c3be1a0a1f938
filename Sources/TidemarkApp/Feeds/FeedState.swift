public import Tidemark

/// An item of a feed.
public struct FeedItem: Sendable, Identifiable, Hashable {
    /// The document's path, which is unique in any feed.
    public var id: String { document.reference.path }
    /// The item's own time; the first instant of year 1 if the field contains no time.
    public var time: Timestamp { row.time }
    public var document: QueryDocumentSnapshot { row.content }
    /// True if the item is newer than the consumption mark.
    public var isUnread: Bool { row.isUnread }
    public var hasPendingWrites: Bool { row.hasPendingWrites }

    private let row: FeedRow<QueryDocumentSnapshot>

    init(_ row: FeedRow<QueryDocumentSnapshot>) { self.row = row }
}

/// The relation between a feed's data and the server's.
public enum FeedPhase: Hashable, Sendable {
    /// The feed has read neither the disk nor the server yet.
    case loading
    /// The feed shows the device's data; `age` is the time since they were last known to be
    /// complete, nil if they never were. Until the server has answered in this launch, the device's
    /// clock measures the age.
    case stale(age: Duration?)
    /// The items are complete as of the server's `readTime`.
    case fresh(readTime: Timestamp)
    /// The last read failed; the feed shows the device's data.
    case failed(FirestoreError)
}

/// The state of a feed at a moment.
public struct FeedState: Hashable, Sendable {
    /// The window: the newest held items, newest first, with equal times sorted by document path.
    /// Each item occurs once.
    public internal(set) var items: [FeedItem]
    /// True if ``Feed/loadMore(_:)`` can show more items below the last: items on the device or, in
    /// a feed with a limit, on the server.
    public internal(set) var hasMore = false
    /// The number of unread items among all held items, in the window and below. While
    /// ``Feed/open()`` is still counting below, the number is at least the number in the window.
    public internal(set) var unreadCount = 0
    public internal(set) var phase: FeedPhase

    init(_ shown: FeedMachine<QueryDocumentSnapshot>.Shown) {
        items = shown.rows.map(FeedItem.init)
        hasMore = shown.hasMore
        unreadCount = shown.unreadCount
        phase = shown.phase
    }
}

/// The result of a sync.
public struct FeedSync: Hashable, Sendable {
    /// The plans that the sync asked, call by call.
    public internal(set) var plans: [ReadPlan] = []
    /// The number of billed reads: one per row, and at least one per call.
    public internal(set) var reads = 0
    /// The number of rows that were new to the device or new in this version. Includes deleted
    /// rows.
    public internal(set) var changed = 0
    /// The server time as of which the held items are complete.
    public internal(set) var readTime: Timestamp?
    /// True if the sync stopped at the limit of reads for its reason, with more to read: the next
    /// sync continues.
    public internal(set) var isCut = false
}
