import TidemarkApp
import TidemarkModel
import TidemarkServer
import TidemarkSync

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
    /// Whether it joins a sync that is under way, so that what it was told is of before it.
    let isJoined: Bool
    /// Whether the feed reads already, so that the bill is not this sync's alone.
    let isShared: Bool

    init(_ device: HistoryDevice) {
        let history = device.history
        time = history.world.time.elapsed
        now = history.world.time.now
        server = history.world.server.run
        reads = history.reads(of: device)
        writes = history.writes.count
        shared = history.mood.sharesMarks ? history.sharedMark() : nil
        isJoined = device.feed?.syncs ?? 0 > 0
        isShared = device.isLive || isJoined
    }
}

/// What was shown when a sync had ended.
final class SyncEvidence {
    typealias Machine = FeedMachine<HistoryContent>

    let device: HistoryDevice
    let begin: SyncBegin
    let result: FeedSync
    let rows: [Machine.Row]
    let hasMore: Bool
    let unread: Int
    /// Rows of the window at the most.
    let size: Int
    let marks: Marks
    let time: Duration
    let reads: Int
    /// When this device's sync before began, where nobody has written since; what was written before may
    /// have reached the server later.
    let unwrittenSince: Timestamp?
    /// What had writes pending; nil where the process was gone before it could tell.
    var pending: Set<DocumentPath>?

    init(_ result: FeedSync, _ feed: HistoryFeed, _ begin: SyncBegin, _ device: HistoryDevice) {
        let machine = feed.machine
        self.device = device
        self.begin = begin
        self.result = result
        rows = machine.shown.rows
        hasMore = machine.shown.hasMore
        unread = machine.shown.unreadCount
        size = feed.size
        marks = machine.marks
        time = device.history.world.time.elapsed
        reads = device.history.reads(of: device)
        unwrittenSince = device.syncedAt.flatMap { before in
            before.process === feed.process && before.writes == device.history.writes.count
                ? before.now : nil
        }
    }
}

extension FeedHistory {
    func synced(
        _ outcome: HistoryFeed.Machine.Outcome, _ feed: HistoryFeed, _ begin: SyncBegin,
        _ device: HistoryDevice
    ) {
        guard case .synced(let result) = outcome else {
            return note("\(device.name) could not sync: \(outcome)")
        }
        let evidence = SyncEvidence(result, feed, begin, device)
        note(
            "\(device.name) synced for \(result.reads), shows "
                + "\(evidence.rows.map { "\($0.path.id) \($0.content.number)" })"
                + (evidence.hasMore ? " and more" : ""))
        figures.syncs += 1
        // What is written while a sync is under way, it may or may not have been told of.
        device.syncedAt = begin.isJoined ? nil : (begin.writes, begin.now, feed.process)
        self.evidence.append(evidence)
        let process = feed.process
        let sink = WorldBox { evidence }
        device.client.engine?.pendingWrites { result in
            guard process.isAlive, case .success(let writes) = result else { return }
            sink.value().pending = Set(writes.flatMap(\.mutations).map(\.path))
        }
    }

    /// What the server has billed a device for, without its listens.
    func reads(of device: HistoryDevice) -> Int {
        world.server.meter(by: [.label, .method])
            .filter { $0.label == device.name && $0.method != "Listen" }
            .reduce(0) { $0 + $1.reads }
    }

    func sharedMark() -> Timestamp? {
        guard world.server.isUp,
            case .success(let document?) = world.server.document(
                at: Self.shared, in: World.database)
        else { return nil }
        switch document.fields["at"] {
        case .double(let milliseconds)?:
            return Timestamp(microseconds: Int64((milliseconds * 1_000).rounded()))
        case .integer(let milliseconds)?: return Timestamp(milliseconds: milliseconds)
        default: return nil
        }
    }
}
