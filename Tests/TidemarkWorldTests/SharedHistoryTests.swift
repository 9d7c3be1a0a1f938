import Synchronization
import Testing
import TestSupport
import TidemarkSimulation

/// Plays an app and its helper processes on one cache, from a seed.
///
/// `TIDEMARK_SHARED_SEEDS=17` plays one seed again and prints its whole log, `0..<20000` plays
/// more.
@Suite(.ownThread) struct SharedHistoryTests {
    static let seeds = SeedRange("TIDEMARK_SHARED_SEEDS", 0..<2_000)
    private static let totals = Mutex((figures: SharedFigures(), shares: 0))

    @Test(arguments: seeds.shares)
    func `processes that share a cache lose nothing, send nothing twice, and see each other`(
        share: Range<UInt64>
    ) throws {
        var figures = SharedFigures()
        for seed in share {
            let history = try SharedHistory(seed: seed)
            do { try history.run() } catch { Issue.record("\(history.report(error))") }
            if Self.seeds.isOne { print(history.log.joined(separator: "\n")) }
            figures += history.figures
        }
        // An oracle that compares nothing would also pass, so the figures must be large enough.
        if share.count >= 50 {
            #expect(figures.writes > 150 && figures.acknowledged > 80, "\(figures)")
            #expect(figures.left > 40 && figures.views > 100 && figures.ends > 150, "\(figures)")
        }
        Self.add(figures)
    }

    @Test(arguments: [UInt64(3), 11, 42])
    func `the same seed gives the same history of processes`(seed: UInt64) throws {
        let logs = try (0..<2).map { _ in
            let history = try SharedHistory(seed: seed)
            try history.run()
            return history.log
        }
        #expect(logs[0] == logs[1])
    }

    /// Prints the totals after the last share.
    private static func add(_ figures: SharedFigures) {
        totals.withLock { totals in
            totals.figures += figures
            totals.shares += 1
            if totals.shares < seeds.shares.count { return }
            print("\(seeds.all.count) histories of processes: \(totals.figures)")
        }
    }
}
