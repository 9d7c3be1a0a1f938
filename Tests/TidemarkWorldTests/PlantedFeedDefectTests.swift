#if TIDEMARK_DEFECTS
    import Testing
    import TestSupport
    import TidemarkSync
    import TidemarkSimulation

    /// The histories find bugs: each of these is planted in a feed or a pager, and the check that is named
    /// finds it in some seed. Without them the same seeds pass, as long and looked at as thoroughly.
    @Suite(.oneCore) struct PlantedFeedDefectTests {
        private static let expected: [String: WorldCheck] = [
            "drainCutShort": .feedSyncs, "overlapForgotten": .feedSyncs,
            "equalTimesSkipped": .feedSyncs, "marksNotStored": .feedMarks,
            "deviceClockTrusted": .feedMarks, "deletedRowsStay": .feedSyncs,
            "upperHalfSkipped": .feedSyncs, "sharedMarkOverwritten": .feedMarks,
            "pageHoleKept": .pagers, "feedHeadOffByOne": .feedSyncs, "liveRowDropped": .feedLive,
            "listenerTakenForPage": .feedLive,
        ]

        /// Some show only where a history is long, and looked at to its end.
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

        /// The oracle lets two things pass: rows that came out even when a feed which only counts counted,
        /// before its listener brought what had been missing; and a mark that is a text, while the device
        /// that shows it has cleared. A defect is found there all the same.
        enum Leniency: String, CaseIterable {
            case rowsOfAListener, marksThatAreTexts

            var defect: PlantedDefects {
                switch self {
                case .rowsOfAListener: .liveRowDropped
                case .marksThatAreTexts: .sharedMarkOverwritten
                }
            }

            func settings(_ seed: UInt64) -> FeedHistorySettings {
                // The marks of every third seed are texts.
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
