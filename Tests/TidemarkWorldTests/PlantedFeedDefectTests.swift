#if TIDEMARK_DEFECTS
    import Testing
    import TestSupport
    import TidemarkSync
    import TidemarkSimulation

    /// Shows that the histories find defects: each of these is planted in a feed or a pager, and
    /// the named check must find the defect in some seed. Without the defect the same seeds pass,
    /// with the same length and depth.
    @Suite(.oneCore) struct PlantedFeedDefectTests {
        private static let expected: [String: WorldCheck] = [
            "drainCutShort": .feedSyncs, "overlapForgotten": .feedSyncs,
            "equalTimesSkipped": .feedSyncs, "marksNotStored": .feedMarks,
            "deviceClockTrusted": .feedMarks, "deletedRowsStay": .feedSyncs,
            "upperHalfSkipped": .feedSyncs, "sharedMarkOverwritten": .feedMarks,
            "pageHoleKept": .pagers, "feedHeadOffByOne": .feedSyncs, "liveRowDropped": .feedLive,
            "listenerTakenForPage": .feedLive,
        ]

        /// Some defects appear only in long histories that are checked to their end.
        private static func settings(_ seed: UInt64) -> FeedHistorySettings {
            var settings = FeedHistorySettings(seed: seed)
            settings.steps = 24
            settings.isThorough = true
            return settings
        }

        private static let clean = CleanSeeds { seed in
            try violation { try FeedHistory(settings(seed)).run() }
        }

        @Test(arguments: PlantedDefects.ofFeeds.map(\.name))
        func `a planted defect is found by its check, and nothing is without it`(
            name: String
        ) throws {
            let defect = try #require(PlantedDefects.ofFeeds.first { $0.name == name }?.defect)
            let check = try #require(Self.expected[name], "no check is named for \(name)")
            try Self.clean.expect(name, to: check) { seed in
                var settings = Self.settings(seed)
                settings.defects = defect
                return try violation { try FeedHistory(settings).run() }
            }
        }

        /// The oracle accepts two special cases. First, the count of a feed that only counts was
        /// right before its listener brought the missing rows. Second, a mark is a text, and the
        /// device that shows the mark has cleared. The tests find a planted defect in both cases.
        enum Leniency: String, CaseIterable {
            case rowsOfAListener, marksThatAreTexts

            var defect: PlantedDefects {
                switch self {
                case .rowsOfAListener: .liveRowDropped
                case .marksThatAreTexts: .sharedMarkOverwritten
                }
            }

            func settings(_ seed: UInt64) -> FeedHistorySettings {
                // Every third seed has text marks.
                var settings = PlantedFeedDefectTests.settings(
                    self == .marksThatAreTexts ? seed * 3 : seed)
                if self != .marksThatAreTexts { settings.way = .countAudit }
                return settings
            }
        }

        @Test(arguments: Leniency.allCases)
        func `a planted defect is found where the oracle is lenient`(leniency: Leniency) throws {
            let clean = CleanSeeds { seed in
                try violation { try FeedHistory(leniency.settings(seed)).run() }
            }
            let isMark = leniency == .marksThatAreTexts
            try clean.expect(
                "\(leniency)", to: isMark ? .feedMarks : .feedLive,
                saying: isMark ? "" : "its listener has brought"
            ) { seed in
                var settings = leniency.settings(seed)
                settings.defects = leniency.defect
                return try violation { try FeedHistory(settings).run() }
            }
        }
    }
#endif
