import TidemarkApp
import TidemarkModel
import TidemarkServer
import TidemarkSync
import TidemarkTesting

/// The state of a history when a sync began.
struct SyncBegin {
    let time: Duration
    /// The time on the server.
    let now: Timestamp
    let server: WorldServer.Run?
    let reads: Int
    let writes: Int
    /// The clear mark that the user's devices were known to share.
    let shared: Timestamp?
    /// The documents that the device's own pending writes changed at that time.
    let ownWrites = OwnWrites()
    /// The number of times that the device had cleared.
    let clears: Int
    /// True if the sync joined a sync in progress. Its information may then be older than its
    /// start.
    let isJoined: Bool
    /// True if the feed was already reading. The bill then covers more than this sync.
    let isShared: Bool

    init(_ device: HistoryDevice) {
        let history = device.history
        time = history.world.time.elapsed
        now = history.world.time.now
        server = history.world.server.run
        reads = history.oracle.reads(of: device)
        writes = history.writes.count
        shared = history.parameters.sharesMarks ? history.oracle.sharedMark() : nil
        clears = device.clears
        isJoined = device.feed?.syncs ?? 0 > 0
        isShared =
            device.isLive || isJoined
            || history.parameters.limit != nil && device.feed?.loads ?? 0 > 0
        guard let process = device.feed?.process else { return }
        history.oracle.askPending(device, process) { [ownWrites] in ownWrites.paths = $0 }
    }

    final class OwnWrites {
        /// The paths; nil until the device has answered.
        var paths: Set<DocumentPath>?
    }
}

/// The visible state of a feed at a moment.
struct HistoryShown: Equatable {
    let rows: [FeedMachine<HistoryContent>.Row]
    let hasMore: Bool
    let unread: Int
    /// The maximum number of rows in the window.
    let size: Int
    /// The number of items that the feed promises to hold; nil for all.
    let limit: Int?
    /// The position from which the feed claims to hold everything.
    let base: CoveragePosition
    let marks: Marks
    /// The documents that the listener has reported since the last count.
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

/// The visible state of a feed that listened and reported that it was complete as of a time.
final class LiveEvidence {
    let device: HistoryDevice
    let shown: HistoryShown
    let readTime: Timestamp
    /// The documents with pending writes; nil if the process ended before it answered.
    var pending: Set<DocumentPath>?

    init(_ feed: HistoryFeed, readTime: Timestamp, device: HistoryDevice) {
        self.device = device
        self.readTime = readTime
        shown = HistoryShown(feed)
    }
}

/// The visible state of a feed at the end of a sync.
final class SyncEvidence {
    let device: HistoryDevice
    let begin: SyncBegin
    let result: FeedSync
    let shown: HistoryShown
    let time: Duration
    let reads: Int
    /// True if the device has cleared since the sync began.
    let hasCleared: Bool
    /// The start of this device's previous sync if nobody has written since; otherwise nil, because
    /// earlier writes may have reached the server later.
    let unwrittenSince: Timestamp?
    /// The documents with pending writes; nil if the process ended before it answered.
    var pending: Set<DocumentPath>?

    init(_ result: FeedSync, feed: HistoryFeed, begin: SyncBegin, device: HistoryDevice) {
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
