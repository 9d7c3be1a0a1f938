import Synchronization
import Testing
import TestSupport
import TidemarkSimulation

/// Plays three clients, the server, and all faults between them, from a seed.
///
/// `TIDEMARK_WORLD_SEEDS=17` plays one seed again and prints its whole log, `0..<100000` plays
/// more.
@Suite(.oneCore) struct WorldTests {
    static let seeds = SeedRange("TIDEMARK_WORLD_SEEDS", 0..<2_000)
    private static let totals = Mutex((figures: WorldFigures(), shares: 0))

    @Test(arguments: seeds.shares)
    func `nothing is lost, doubled or made up, and all converge`(share: Range<UInt64>) throws {
        var figures = WorldFigures()
        for seed in share {
            var settings = WorldSettings(seed: seed)
            settings.isVerbose = Self.seeds.isOne
            let world = try World(settings)
            do { try world.run() } catch { Issue.record("\(world.report(error))") }
            if settings.isVerbose { print(world.log.joined(separator: "\n")) }
            figures += world.figures
        }
        // An oracle that compares nothing would also pass, so the figures must be large enough.
        if share.count >= 50 {
            let lack = figures.lack(worlds: share.count)
            #expect(lack.isEmpty, "\(share) compared too few \(lack): \(figures)")
        }
        Self.add(figures)
    }

    /// Prints the totals after the last share.
    private static func add(_ figures: WorldFigures) {
        totals.withLock { totals in
            totals.figures += figures
            totals.shares += 1
            if totals.shares < seeds.shares.count { return }
            print("\(seeds.all.count) worlds compared \(totals.figures)")
        }
    }

    @Test(arguments: [UInt64(3), 11, 42])
    func `the same seed gives the same history`(seed: UInt64) throws {
        let logs = try (0..<2).map { _ in
            let world = try World(WorldSettings(seed: seed))
            try world.run()
            return world.log
        }
        #expect(logs[0] == logs[1])
    }

    @Test func `a world that ended leaves nothing behind`() throws {
        weak var left: World?
        weak var history: FeedHistory?
        do {
            let world = try World(WorldSettings(seed: 1))
            try world.run()
            let feeds = try FeedHistory(FeedHistorySettings(seed: 1))
            try feeds.run()
            (left, history) = (world, feeds)
        }
        #expect(left == nil)
        #expect(history == nil)
    }
}
