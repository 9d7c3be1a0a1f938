import Testing
import TestSupport
import TidemarkSync
import TidemarkSimulation

/// Histories with backfills, feeds and writes. At every moment and after every kill, each item that
/// counts as covered was sent or is in the cache, and no person waits longer than announced.
///
/// `TIDEMARK_BACKFILL_SEEDS=17` plays one seed again and prints its whole log, `0..<100000` plays
/// more.
@Suite(.oneCore) struct BackfillHistoryTests {
    static let seeds = SeedRange("TIDEMARK_BACKFILL_SEEDS", 0..<100)

    static func history(_ seed: UInt64) -> FeedHistorySettings {
        var settings = FeedHistorySettings(seed: seed)
        settings.hasBackfills = true
        settings.steps = 16
        return settings
    }

    @Test(arguments: seeds.shares)
    func `what is covered was sent, or is held`(share: Range<UInt64>) throws {
        var figures = FeedHistoryFigures()
        for seed in share {
            var settings = Self.history(seed)
            settings.isVerbose = Self.seeds.isOne
            let history = try FeedHistory(settings)
            do { try history.run() } catch { Issue.record("\(history.report(error))") }
            if settings.isVerbose { print(history.world.log.joined(separator: "\n")) }
            figures += history.figures
        }
        // An oracle that compares nothing would also pass, so the figures must be large enough.
        if share.count >= 50 { #expect(figures.backfilled > share.count * 20, "\(figures)") }
    }

    /// The seed found a defect of the product.
    ///
    /// - 1636: a document that had left the feed's filter stayed while a listener of the document
    ///   was behind and only a part of the feed was read again.
    @Test(arguments: [UInt64(1636)])
    func `what was found once stays away`(seed: UInt64) throws {
        let history = try FeedHistory(Self.history(seed))
        do { try history.run() } catch { Issue.record("\(history.report(error))") }
    }

    #if TIDEMARK_DEFECTS
        private static let clean = CleanSeeds { seed in
            try violation { try FeedHistory(history(seed)).run() }
        }

        @Test(arguments: PlantedDefects.ofBackfills.map(\.name))
        func `a planted defect is found by its check, and nothing is without it`(
            name: String
        ) throws {
            let defect = try #require(PlantedDefects.ofBackfills.first { $0.name == name }?.defect)
            try Self.clean.expect(name, to: .backfills) { seed in
                var settings = Self.history(seed)
                settings.defects = defect
                return try violation { try FeedHistory(settings).run() }
            }
        }
    #endif
}
