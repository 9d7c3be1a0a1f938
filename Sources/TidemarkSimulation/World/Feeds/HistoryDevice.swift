import TidemarkApp
import TidemarkModel
import TidemarkSync
import TidemarkTesting

/// A device of a history. Plays an app with a feed and a pager, which start again with each
/// process.
final class HistoryDevice {
    let client: WorldClient
    let definition: ParsedDefinition
    unowned let history: FeedHistory
    private(set) var feed: HistoryFeed?
    private(set) var pager: HistoryPager?
    private(set) var backfill: HistoryBackfill?
    let days = HistoryDays()
    /// The highest clear mark that the app has received.
    private(set) var told: Timestamp?
    private var resetsUnderWay = 0
    /// The number of times that the app has moved the clear mark.
    private(set) var clears = 0
    /// The state of the writes at the start of the last successful sync.
    var syncedAt: (writes: Int, now: Timestamp, process: WorldProcess)?
    /// The last fresh result that the feed showed while it listened.
    var lastLive: LiveEvidence?
    /// The state of the pager at its last comparison.
    var comparedPages: HistoryPager.Compared?
    /// True if the app keeps the feed up to date with a listener.
    private(set) var isLive = false

    init(_ client: WorldClient, in history: FeedHistory) throws {
        self.client = client
        self.history = history
        #if TIDEMARK_DEFECTS
            var definition = try Self.definition(history)
            definition.plant(history.settings.defects)
            self.definition = definition
        #else
            definition = try Self.definition(history)
        #endif
        follow()
    }

    static func query(_ parameters: FeedHistoryParameters) -> Query {
        Query(
            collectionID: FeedHistory.items,
            filter: parameters.hasFilter
                ? .field(FieldPath(name: "room"), .equal, .integer(1)) : nil)
    }

    /// True for a third of the seeds: the shared marks are strings.
    static func marksAreTexts(_ history: FeedHistory) -> Bool { history.settings.seed % 3 == 0 }

    /// Returns the shared marks. For a third of the seeds they are strings, and for a quarter the
    /// consumption mark is shared too.
    private static func shared(_ history: FeedHistory) throws -> SharedMarkFields? {
        let seed = history.settings.seed
        guard history.parameters.sharesMarks else { return nil }
        return try SharedMarkFields(
            FeedHistory.shared, field: "at", consumptionField: seed % 4 == 0 ? "seen" : nil,
            encoding: marksAreTexts(history) ? .string : .number,
            onClear: marksAreTexts(history) ? ["deleted": .boolean(true)] : [:])
    }

    private static func definition(_ history: FeedHistory) throws -> ParsedDefinition {
        let parameters = history.parameters
        let way: FeedDefinition.Way =
            switch parameters.way {
            case .changeTime, .countedChangeTime:
                .changeTime("updatedAt", deletedField: "deletedAt")
            case .versionAudit: .audit(version: "v")
            case .countAudit: .audit(version: nil)
            case .itemTime: .itemTime
            }
        return try ParsedDefinition(
            query(parameters), itemTime: "createdAt", way: way, pageSize: parameters.pageSize,
            overlap: parameters.overlap, window: parameters.window,
            checksMembership: parameters.way == .countedChangeTime,
            shared: try shared(history), limit: parameters.limit,
            // In two of three histories an absence of minutes counts as a long one.
            longAbsence: history.settings.seed % 3 == 0
                ? FeedRules.longAbsence : parameters.overlap * 2)
    }

    var name: String { client.name }
    /// The time on the device's own clock, which can be wrong.
    var now: Timestamp { history.world.time.now.advanced(by: client.skew) }
    var clocks: DeviceTime { DeviceTime(wall: now, elapsed: history.world.time.elapsed) }

    /// Opens the feed again in a new process, and drops it when a process has ended.
    func follow() {
        if let feed, feed.process === client.process, client.isAlive { return }
        feed = nil
        pager = nil
        backfill = nil
        if resetsUnderWay > 0 { told = nil }
        resetsUnderWay = 0
        guard client.isAlive else { return }
        let next = HistoryFeed(self)
        feed = next
        next.call { .open($0) }
        if isLive { next.notify(.live(true)) }
        if history.parameters.hasPager { pager = HistoryPager(self) }
        if history.settings.hasBackfills { backfill = HistoryBackfill(self) }
    }

    // MARK: What the app does

    func sync() {
        guard let feed, client.isAlive else { return }
        let begin = SyncBegin(self)
        history.note("\(name) syncs")
        feed.sync { [unowned self, unowned feed] outcome in
            history.oracle.synced(outcome, feed: feed, begin: begin, device: self)
        }
    }

    func loadMore(_ count: Int) {
        history.note("\(name) loads \(count) more")
        feed?.loadMore(count)
    }

    func move(
        _ name: Marks.Name, to target: FeedMachine<HistoryContent>.MarkTarget
    ) {
        guard let feed, client.isAlive else { return }
        history.note("\(self.name) moves its \(name) mark to \(target)")
        let isReset = target == .milliseconds(-1) && name == .action
        if isReset { resetsUnderWay += 1 }
        if name == .action { clears += 1 }
        feed.call({ .move(name, to: target, $0) }) { [unowned self] outcome in
            if isReset { resetsUnderWay -= 1 }
            moved(name, outcome)
        }
    }

    /// Checks that no mark is later than the server's time, even if the device's clock is wrong.
    ///
    /// - Precondition: The device has learned the server's time.
    func check(_ event: FeedEvent) {
        switch event {
        case .moved(_, .moved(let time)), .moved(_, .clamped(let time)),
            .received(.moved(let time)), .received(.clamped(let time)):
            if time <= history.world.time.now { return }
            history.world.violate(
                .feedMarks, "\(name)'s mark is at \(time.worldText), ahead of the server's time")
        case .moved, .received, .used, .dropped, .notShared, .foundByAudit, .asked: return
        }
    }

    private func moved(_ name: Marks.Name, _ outcome: FeedMachine<HistoryContent>.Outcome) {
        history.note("\(self.name)'s \(name) mark: \(outcome)")
        guard name == .action, case .moved(let move?) = outcome else { return }
        switch move {
        case .reset: told = nil
        case .moved(let time), .clamped(let time), .ignored(let time):
            // A mark later than the server's time is moved back when the server's time becomes
            // known.
            let isAhead = time > history.world.time.now.advanced(by: Marks.travel)
            if resetsUnderWay == 0, !isAhead { told = max(told ?? time, time) }
        }
    }

    /// True if the feed is complete as of a known server time.
    var isFresh: Bool { if case .fresh? = feed?.machine.shown.phase { true } else { false } }

    func goLive(_ isWanted: Bool) {
        history.note("\(name) \(isWanted ? "listens" : "listens no more")")
        isLive = isWanted
        // In every second history it comes up to date by that, which is checked as a sync is.
        guard isWanted, history.settings.seed.isMultiple(of: 2), let feed, client.isAlive else {
            feed?.notify(.live(isWanted))
            return
        }
        let begin = SyncBegin(self)
        feed.comeLive { [unowned self, unowned feed] outcome in
            history.oracle.synced(outcome, feed: feed, begin: begin, device: self)
        }
    }

    func page() {
        guard let pager, client.isAlive else { return }
        history.note("\(name) pages")
        pager.loadMore()
    }

    // MARK: What it shows

    /// Checks the rules that hold at every moment.
    func published(_ feed: HistoryFeed) {
        let rows = feed.machine.shown.rows
        if let fault = history.oracle.fault(of: rows.map(\.position)) {
            history.world.violate(.feedOrder, "\(name)'s feed shows \(fault)")
        }
        for row in rows where history.writes.versions[row.content.number] != row.path {
            history.world.violate(.feedOrder, "\(name)'s feed shows what nobody wrote: \(row)")
        }
        if isLive, case .fresh(let readTime) = feed.machine.shown.phase {
            history.oracle.saw(feed, freshAsOf: readTime, self)
        }
        guard resetsUnderWay == 0, let told else { return }
        if let row = rows.first(where: { $0.isStored && $0.time <= told }) {
            history.world.violate(
                .feedMarks, "\(name)'s feed shows \(row.path.id), cleared at \(told)")
        }
    }
}

extension FeedRow {
    /// False while the server has not yet set the item's time.
    var isStored: Bool { if case .timestamp = position.value { true } else { false } }
}

/// The content of a row of a history.
struct HistoryContent: Hashable, Sendable {
    let number: Int64
    let updateTime: Timestamp

    init(_ view: ViewDocument) {
        if case .integer(let number)? = view.document.fields["v"] {
            self.number = number
        } else {
            number = 0
        }
        updateTime = view.document.updateTime
    }
}
