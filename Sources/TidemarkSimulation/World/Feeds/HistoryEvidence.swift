import TidemarkApp
import TidemarkModel
import TidemarkServer
import TidemarkSync
import TidemarkTesting

/// What was known when a sync began.
struct SyncBegin {
    let time: Duration
    /// The server's.
    let now: Timestamp
    let server: WorldServer.Run?
    let reads: Int
    let writes: Int
    /// Where the user's devices were known to have cleared.
    let shared: Timestamp?
    /// What the device's own writes of then change.
    let ownWrites = OwnWrites()
    /// How often the device had cleared.
    let clears: Int
    /// Whether it joins a sync that is under way, so that what it was told is of before it.
    let isJoined: Bool
    /// Whether the feed reads already, so that the bill is not this sync's alone.
    let isShared: Bool

    init(_ device: HistoryDevice) {
        let history = device.history
        time = history.world.time.elapsed
        now = history.world.time.now
        server = history.world.server.run
        reads = history.oracle.reads(of: device)
        writes = history.writes.count
        shared = history.mood.sharesMarks ? history.oracle.sharedMark() : nil
        clears = device.clears
        isJoined = device.feed?.syncs ?? 0 > 0
        isShared =
            device.isLive || isJoined || history.mood.limit != nil && device.feed?.loads ?? 0 > 0
        guard let process = device.feed?.process else { return }
        history.oracle.askPending(device, process) { [ownWrites] in ownWrites.paths = $0 }
    }

    final class OwnWrites {
        /// Nil until the device has told.
        var paths: Set<DocumentPath>?
    }
}

/// What a feed showed at a moment.
struct HistoryShown: Equatable {
    let rows: [FeedMachine<HistoryContent>.Row]
    let hasMore: Bool
    let unread: Int
    /// Rows of the window at the most.
    let size: Int
    /// How many items it promises to hold; nil for all.
    let limit: Int?
    /// From where on it says that it holds everything.
    let base: CoveragePosition
    let marks: Marks
    /// What a listener has told of since what is held was last counted.
    let heard: Set<DocumentPath>

    init(_ feed: HistoryFeed) {
        let machine = feed.machine
        rows = machine.shown.rows
        hasMore = machine.shown.hasMore
        unread = machine.shown.unreadCount
        size = feed.size
        limit = machine.settings.rules.limit
        base = machine.progress.base(above: machine.marks.action, machine.settings.rules)
        marks = machine.marks
        heard = feed.heard
    }
}

/// What a feed showed while it listened and said that it was complete as of a time.
final class LiveEvidence {
    let device: HistoryDevice
    let shown: HistoryShown
    let readTime: Timestamp
    /// What had writes pending; nil where the process was gone before it could tell.
    var pending: Set<DocumentPath>?

    init(_ feed: HistoryFeed, _ readTime: Timestamp, _ device: HistoryDevice) {
        self.device = device
        self.readTime = readTime
        shown = HistoryShown(feed)
    }
}

/// What was shown when a sync had ended.
final class SyncEvidence {
    let device: HistoryDevice
    let begin: SyncBegin
    let result: FeedSync
    let shown: HistoryShown
    let time: Duration
    let reads: Int
    /// Whether the device has cleared since it began.
    let hasCleared: Bool
    /// When this device's sync before began, where nobody has written since; what was written before may
    /// have reached the server later.
    let unwrittenSince: Timestamp?
    /// What had writes pending; nil where the process was gone before it could tell.
    var pending: Set<DocumentPath>?

    init(_ result: FeedSync, _ feed: HistoryFeed, _ begin: SyncBegin, _ device: HistoryDevice) {
        self.device = device
        self.begin = begin
        self.result = result
        shown = HistoryShown(feed)
        time = device.history.world.time.elapsed
        reads = device.history.oracle.reads(of: device)
        hasCleared = begin.clears < device.clears
        unwrittenSince = device.syncedAt.flatMap { before in
            before.process === feed.process && before.writes == device.history.writes.count
                ? before.now : nil
        }
    }
}
