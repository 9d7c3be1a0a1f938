import Foundation
import Synchronization
import Testing
import TestSupport
import TidemarkSimulation

/// Plays two devices with feeds and pagers over one collection, from a seed. After each sync, a
/// device must show the same as a full read of the server above the clear mark.
///
/// `TIDEMARK_FEED_SEEDS=17` plays one seed again and prints its whole log, `0..<100000` plays more.
/// `TIDEMARK_FEED_WAY=countAudit` plays one way alone. `TIDEMARK_FEED_STEPS=24` plays longer
/// histories, which are checked more thoroughly.
@Suite(.oneCore) struct FeedHistoryTests {
    static let seeds = SeedRange("TIDEMARK_FEED_SEEDS", 0..<2_000)
    private static let totals = Mutex((figures: FeedHistoryFigures(), shares: 0))
    private static let variables = ProcessInfo.processInfo.environment

    @Test(arguments: seeds.shares)
    func `what is shown is what a full read shows`(share: Range<UInt64>) throws {
        let figures = try Self.play(share, isVerbose: Self.seeds.isOne)
        // An oracle that compares nothing would also pass, so the figures must be large enough.
        if share.count >= 50 {
            #expect(figures.whole > share.count * 3, "\(figures)")
            #expect(figures.billed > share.count, "\(figures)")
            #expect(figures.items > share.count * 10, "\(figures)")
            #expect(figures.live > share.count * 3, "\(figures)")
            #expect(figures.liveItems > share.count * 10, "\(figures)")
            #expect(figures.pages > share.count * 2, "\(figures)")
            #expect(figures.pageRows > share.count * 10, "\(figures)")
        }
        Self.add(figures)
    }

    private static func play(
        _ share: Range<UInt64>, isBounded: Bool = false, isVerbose: Bool
    ) throws -> FeedHistoryFigures {
        var figures = FeedHistoryFigures()
        for seed in share {
            var settings = FeedHistorySettings(seed: seed)
            settings.isBounded = isBounded
            settings.isVerbose = isVerbose
            settings.way = variables["TIDEMARK_FEED_WAY"].flatMap(HistoryWay.init)
            if let steps = variables["TIDEMARK_FEED_STEPS"].flatMap({ Int($0) }) {
                settings.steps = steps
                settings.isThorough = true
            }
            let history = try FeedHistory(settings)
            do { try history.run() } catch { Issue.record("\(history.report(error))") }
            if isVerbose { print(history.world.log.joined(separator: "\n")) }
            figures += history.figures
        }
        return figures
    }

    /// Prints the totals after the last share.
    private static func add(_ figures: FeedHistoryFigures) {
        totals.withLock { totals in
            totals.figures += figures
            totals.shares += 1
            if totals.shares < seeds.shares.count { return }
            print("\(seeds.all.count) histories of feeds compared \(totals.figures)")
        }
    }

    /// These seeds found defects of the product.
    ///
    /// - 22639: a feed counted at a later time than it read the changes, and took new items for
    ///   items that had been deleted before.
    /// - 24337: the feed predicted that deleted items would be read again.
    /// - 1540: a feed with a listener reported fresh data while rows that a mark had hidden were
    ///   not yet replaced from the disk.
    /// - 4886: a feed was killed after its first page, whose only item then moved down. The feed
    ///   took this for the end of the collection.
    /// - 6382: a listener's snapshot ended a later delta of a sync, and the feed was fresh as of
    ///   the delta's time.
    /// - 7037: a pending write of the device kept a row out of a full listener, which the feed then
    ///   took for one that shows all rows.
    /// - 8964: a pending delete made a pager's full page one row short, which the pager took for
    ///   the end of the collection.
    /// - 19196: a pending move to a much lower position made a pager take everything above that
    ///   position for known.
    /// - 17979: a mark ahead of the server's time went back after a page above the mark, and the
    ///   interval between them was never read.
    /// - 7960: a device whose own write was newer than the server's answer did not learn where
    ///   other devices had cleared.
    ///
    /// These seeds found defects of the oracle.
    ///
    /// - 9033: the oracle did not know of items that devices had written themselves, and took later
    ///   items for items in order.
    /// - 11529: a device that clears during a sync sees its own text, as Decisions/0042 says.
    /// - 12023, 16894, 9679: a write that was undone left the server unchanged, but was shown for a
    ///   moment.
    @Test(arguments: [
        UInt64(22639), 24337, 1540, 4886, 6382, 7037, 8964, 19196, 17979, 7960, 9033, 11529, 12023,
        16894, 9679,
    ])
    func `what was found once stays away`(seed: UInt64) throws {
        let history = try FeedHistory(FeedHistorySettings(seed: seed))
        do { try history.run() } catch { Issue.record("\(history.report(error))") }
    }

    /// The seed 3584 found a defect of the product, the others of the oracle.
    ///
    /// - 3584: the feed did not predict that items of the newest time on later pages would be read
    ///   again.
    /// - 2886, 4416: the oracle took rows from a listener for an error of a count that had been
    ///   right.
    @Test(arguments: [UInt64(3584), 2886, 4416])
    func `what was found once in bounded feeds stays away`(seed: UInt64) throws {
        var settings = FeedHistorySettings(seed: seed)
        settings.isBounded = true
        let history = try FeedHistory(settings)
        do { try history.run() } catch { Issue.record("\(history.report(error))") }
    }

    /// A defect of the oracle.
    ///
    /// - 174: a new item arrived together with a delete while a feed that only counts was counting.
    ///   The oracle took the item for lost, because the listener had since removed the deleted
    ///   item.
    @Test(arguments: [UInt64(174)])
    func `what was found once in long histories that only count stays away`(seed: UInt64) throws {
        var settings = FeedHistorySettings(seed: seed)
        settings.way = .countAudit
        settings.steps = 24
        settings.isThorough = true
        let history = try FeedHistory(settings)
        do { try history.run() } catch { Issue.record("\(history.report(error))") }
    }

    static let boundedSeeds = SeedRange("TIDEMARK_BOUNDED_SEEDS", 0..<1_000)
    private static let boundedTotals = Mutex((figures: FeedHistoryFigures(), shares: 0))

    /// The same check for feeds that hold only the newest items. Such a feed must show as many
    /// items as it promises, or all items, as a full read shows them, and older items on request.
    @Test(arguments: boundedSeeds.shares)
    func `a bounded feed shows the newest items of a full read`(share: Range<UInt64>) throws {
        let figures = try Self.play(share, isBounded: true, isVerbose: Self.boundedSeeds.isOne)
        if share.count >= 50 {
            #expect(figures.whole > share.count * 3, "\(figures)")
            #expect(figures.billed > share.count, "\(figures)")
            #expect(figures.items > share.count * 10, "\(figures)")
            #expect(figures.live > share.count * 3, "\(figures)")
            #expect(figures.counts > 0, "\(figures)")
        }
        Self.boundedTotals.withLock { totals in
            totals.figures += figures
            totals.shares += 1
            if totals.shares < Self.boundedSeeds.shares.count { return }
            print("\(Self.boundedSeeds.all.count) histories of bounded feeds: \(totals.figures)")
        }
    }

    @Test(arguments: [UInt64(3), 11, 42])
    func `the same seed gives the same history`(seed: UInt64) throws {
        let logs = try (0..<2).map { _ in
            let history = try FeedHistory(FeedHistorySettings(seed: seed))
            try history.run()
            return history.world.log
        }
        #expect(logs[0] == logs[1])
    }
}
