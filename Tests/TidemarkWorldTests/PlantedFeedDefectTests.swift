#if TIDEMARK_DEFECTS
    import Testing
    import TidemarkSync
    import TidemarkTesting

    /// The histories find bugs: each of these is planted in a feed or a pager, and a seed shows it.
    /// Without them the same seeds pass, in ``FeedHistoryTests``.
    @Suite(.oneCore) struct PlantedFeedDefectTests {
        /// More than any of them has needed.
        private static let seeds = UInt64(0)..<300

        @Test(arguments: PlantedDefects.ofFeeds.map(\.name))
        func `a planted defect is found`(name: String) throws {
            let defect = try #require(PlantedDefects.ofFeeds.first { $0.name == name }?.defect)
            for seed in Self.seeds {
                var settings = FeedHistorySettings(seed: seed)
                settings.defects = defect
                let history = try FeedHistory(settings)
                do { try history.run() } catch let violation as WorldViolation {
                    print("planted: \(name) is caught by seed \(seed): \(violation)".prefix(300))
                    return
                }
            }
            Issue.record("\(name) hides from all of \(Self.seeds)")
        }
    }
#endif
