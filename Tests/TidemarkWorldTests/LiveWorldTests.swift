import Synchronization
import Testing
import TestSupport
import TidemarkPipelines
import TidemarkSimulation

/// Plays worlds whose apps also have live pipelines, from a seed.
///
/// `TIDEMARK_LIVE_SEEDS=17` plays one seed again and prints its whole log, `0..<20000` plays more.
@Suite(.oneCore) struct LiveWorldTests {
    static let seeds = SeedRange("TIDEMARK_LIVE_SEEDS", 0..<200)
    private static let totals = Mutex((figures: WorldLiveFigures(), shares: 0))

    fileprivate static func settings(_ seed: UInt64) -> WorldSettings {
        var settings = WorldSettings(seed: seed)
        settings.hasPipelines = true
        return settings
    }

    @Test(arguments: seeds.shares)
    func `live pipelines have the rows of the cache and of the server`(
        share: Range<UInt64>
    ) throws {
        var figures = WorldLiveFigures()
        for seed in share {
            var settings = Self.settings(seed)
            settings.isVerbose = Self.seeds.isOne
            let world = try World(settings)
            do { try world.run() } catch { Issue.record("\(world.report(error))") }
            if settings.isVerbose { print(world.log.joined(separator: "\n")) }
            if let found = world.lives?.figures { figures += found }
        }
        // An oracle that compares nothing would also pass, so the figures must be large enough.
        if share.count >= 50 {
            let lack = figures.lack(worlds: share.count)
            #expect(lack.isEmpty, "\(share) compared too few \(lack): \(figures)")
        }
        Self.add(figures)
    }

    /// Prints the totals after the last share.
    private static func add(_ figures: WorldLiveFigures) {
        totals.withLock { totals in
            totals.figures += figures
            totals.shares += 1
            if totals.shares < seeds.shares.count { return }
            print("\(seeds.all.count) worlds with pipelines: \(totals.figures)")
        }
    }

    @Test(arguments: [UInt64(3), 11])
    func `the same seed gives the same live pipelines`(seed: UInt64) throws {
        let logs = try (0..<2).map { _ in
            let world = try World(Self.settings(seed))
            try world.run()
            return world.log
        }
        #expect(logs[0] == logs[1])
    }

    #if TIDEMARK_DEFECTS
        private static let clean = CleanSeeds { seed in
            try violation { try World(settings(seed)).run() }
        }

        @Test(arguments: LiveDefect.allCases)
        func `a planted defect of live pipelines is found`(defect: LiveDefect) throws {
            try Self.clean.expect("\(defect)", to: .livePipelines) { seed in
                try LiveDefect.$planted.withValue(defect) {
                    try violation { try World(Self.settings(seed)).run() }
                }
            }
        }
    #endif
}
