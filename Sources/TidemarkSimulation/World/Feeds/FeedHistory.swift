import TidemarkModel
package import TidemarkSync

/// A random history of a collection and of two devices that show it, each with a feed and a pager,
/// on the real engines and the real server of a ``World``. The seed determines the whole history.
///
/// Other clients write, edit, delete and move items; the devices write, clear and pause; network,
/// disks, processes and clocks fail. After each sync, the history compares the feed's rows with a
/// full read of the server above the clear mark, as far as the feed's way of learning about changes
/// promises (``HistoryPromise``). It also compares the server's bill with the plans. At the end all
/// faults are healed, and every item must be shown.
///
/// ```swift
/// let feeds = try FeedHistory(FeedHistorySettings(seed: 1))
/// try feeds.run()
/// ```
package final class FeedHistory {
    package let settings: FeedHistorySettings
    package let world: World
    package internal(set) var figures = FeedHistoryFigures()
    let parameters: FeedHistoryParameters
    private(set) var devices: [HistoryDevice] = []
    var writes = HistoryWrites()
    /// Selects and performs the random actions.
    private(set) lazy var driver = HistoryDriver(dice, in: self)
    /// Compares the shown rows with the server's data.
    private(set) lazy var oracle = HistoryOracle(in: self)
    var backfills: HistoryBackfills { HistoryBackfills(history: self) }
    /// The random generator after the parameters were chosen.
    private let dice: SeededRandom

    static let items = "items"
    static let shared = DocumentPath(unchecked: "marks/u")

    package init(_ settings: FeedHistorySettings) throws {
        self.settings = settings
        var dice = SeededRandom(seed: settings.seed &+ 7_919)
        parameters = FeedHistoryParameters(&dice, way: settings.way, isBounded: settings.isBounded)
        self.dice = dice
        var worldSettings = WorldSettings(seed: settings.seed)
        worldSettings.clients = 2
        worldSettings.isVerbose = false
        worldSettings.cacheSize = parameters.cacheSize
        world = try World(worldSettings)
        for client in world.clients { devices.append(try HistoryDevice(client, in: self)) }
        note("\(parameters)")
    }

    /// Plays the whole history of the seed.
    ///
    /// - Throws: ``WorldViolation`` with the rule that was violated.
    package func run() throws {
        defer { world.end() }
        for _ in 0..<driver.dice.roll(4) { driver.writeOutside() }
        if settings.hasBackfills {
            for device in devices { backfills.importDays(device, 8) }
        }
        for _ in 0..<settings.steps {
            driver.act()
            try pass(driver.pause())
        }
        try HistorySettling(history: self).settle()
    }

    /// Advances the time, and checks the results of the syncs that ended.
    func pass(_ duration: Duration) throws {
        try world.pass(duration)
        for device in devices {
            device.follow()
            device.backfill?.follow()
            device.backfill?.checkPatience()
        }
        try world.pass(.zero)
        try oracle.checkEvidence()
        for device in devices { try oracle.checkPages(device) }
    }

    func note(_ text: @autoclosure () -> String) { world.note(text()) }

    /// Returns the text that a test prints for a failed history: the end of the log, and a command
    /// that repeats the history.
    package func report(_ error: any Error) -> String {
        """
        \(error)
        Again, with the whole log: \
        TIDEMARK_\(settings.hasBackfills ? "BACKFILL" : settings.isBounded ? "BOUNDED" : "FEED")_SEEDS=\
        \(settings.seed) swift test \
        --filter \(settings.hasBackfills ? "BackfillHistoryTests" : "FeedHistoryTests")
        \(world.log.suffix(settings.isVerbose ? 5_000 : 40).joined(separator: "\n"))
        """
    }
}

package struct FeedHistorySettings {
    package var seed: UInt64
    package var steps = 12
    /// The way in which both feeds learn about changes; nil to let the seed decide.
    package var way: HistoryWay?
    /// True to check pagers and restarts at the end of every history; otherwise only of some.
    package var isThorough = false
    /// True if devices also send days and fetch old items in backfills.
    package var hasBackfills = false
    /// True if the feeds hold only the newest items.
    package var isBounded = false
    package var isVerbose = false
    #if TIDEMARK_DEFECTS
        package var defects: PlantedDefects = []
    #endif

    package init(seed: UInt64) { self.seed = seed }
}

/// Counts of the comparisons that histories made. A test uses them to detect an oracle that checks
/// nothing.
package struct FeedHistoryFigures {
    /// The number of syncs that succeeded.
    package var syncs = 0
    /// The number of syncs after which every item could be compared.
    package var whole = 0
    /// The number of syncs whose bill was compared with their plans.
    package var billed = 0
    /// The number of items compared.
    package var items = 0
    /// The number of times that a listening feed reported fresh data and was compared.
    package var live = 0
    /// The number of items in those comparisons.
    package var liveItems = 0
    /// Times that a feed which only counts was let off, because its listener had brought what was
    /// missing when it counted.
    package var excused = 0
    /// The number of times that a pager was compared, and the number of its rows.
    package var pages = 0
    package var pageRows = 0
    /// The number of times that a bounded feed counted changes before it read.
    package var counts = 0
    /// The number of days and items that were compared with a backfill's claims.
    package var backfilled = 0

    package init() {}

    package static func += (left: inout Self, right: Self) {
        left.syncs += right.syncs
        left.whole += right.whole
        left.billed += right.billed
        left.items += right.items
        left.live += right.live
        left.liveItems += right.liveItems
        left.excused += right.excused
        left.pages += right.pages
        left.pageRows += right.pageRows
        left.counts += right.counts
        left.backfilled += right.backfilled
    }
}

extension FeedHistoryFigures: CustomStringConvertible {
    package var description: String {
        """
        \(syncs) syncs (\(whole) of every item, \(billed) of the bill) with \(items) items, \(live) times \
        that a listening feed was fresh with \(liveItems) items (\(excused) let off), \(pages) looks at pagers with \
        \(pageRows) rows, \(counts) counts of changes, \(backfilled) days and items of backfills
        """
    }
}

/// The way in which the feeds of a history learn about changes.
package enum HistoryWay: String, CaseIterable, Sendable {
    case changeTime, countedChangeTime, versionAudit, countAudit, itemTime
}

/// The random parameters of a history. Each seed omits some kinds of faults and changes.
struct FeedHistoryParameters: CustomStringConvertible {
    let way: HistoryWay
    let hasFilter: Bool
    let sharesMarks: Bool
    let hasPager: Bool
    let pageSize: Int
    let overlap: Duration
    let window: Int
    /// The minimum number of items that a feed holds; nil for all items.
    let limit: Int?
    let cacheSize: Int64
    let acts: [(HistoryAction, Int)]
    let changes: [(HistoryChange, Int)]
    let pauses: [(ClosedRange<Int>?, Int)]

    init(_ dice: inout SeededRandom, way wanted: HistoryWay?, isBounded: Bool) {
        way = wanted ?? dice.pick(HistoryWay.allCases)
        hasFilter = dice.chance(50)
        sharesMarks = dice.chance(50)
        hasPager = dice.chance(50)
        pageSize = dice.pick([1, 2, 3, 3, 7, 50])
        overlap = dice.pick([.seconds(60), .seconds(300)])
        window = dice.pick([1, 3, 8, 500])
        cacheSize = dice.pick([1, 1 << 20])
        var acts = HistoryAction.always
        for (fault, weight) in WorldAction.faults where HistoryAction.mayBreak(fault) {
            if dice.chance(30) { acts.append((.fault(fault), weight)) }
        }
        self.acts = acts
        let (usual, rare) = HistoryChange.kinds(of: way, hasFilter: hasFilter)
        changes = usual + rare.filter { _ in dice.chance(60) }
        pauses =
            dice.chance(50)
            ? [(nil, 4), (1...60, 6), (60...1_500, 6), (4_000...90_000, 2)]
            : [(nil, 1), (1...60, 2), (500...15_000, 6), (60_000...200_000, 2)]
        limit = isBounded ? dice.pick([1, 2, 4, 7, 20]) : nil
    }

    var description: String {
        "a history by \(way), pages of \(pageSize), overlap \(overlap), window \(window)"
            + (limit.map { ", the newest \($0)" } ?? "")
            + (hasFilter ? ", filtered" : "") + (sharesMarks ? ", marks shared" : "")
            + (hasPager ? ", with pagers" : "")
    }
}
