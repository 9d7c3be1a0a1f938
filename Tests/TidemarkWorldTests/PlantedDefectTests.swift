#if TIDEMARK_DEFECTS
    import Testing
    import TestSupport
    import TidemarkSync
    import TidemarkSimulation

    /// Shows that the World finds defects: each of these is planted in the engine, and the named
    /// check must find the defect in some seed. Without the defect the same seeds pass, up to and
    /// including that seed.
    @Suite(.oneCore) struct PlantedDefectTests {
        private static let expected: [String: WorldCheck] = [
            "tokenStoredEarly": .convergence, "lostRequeue": .writesKept,
            "limboUnresolved": .convergence, "ackTakenTwice": .writesKept,
            "overlayNotRecomputed": .cacheReads, "existenceFilterIgnored": .freshRows,
            "removalRace": .convergence, "sentTwiceAfterRestart": .writesCounted,
            "overlaysOfUserBefore": .cacheReads, "queueOfUserBefore": .users,
            "readsUnverified": .transactionReads, "lostCommitRepeated": .transfers,
            "indexEntryLeft": .cacheReads, "collectedInUse": .cachedRows,
            "limitNotRefilled": .cachedRows, "acknowledgedOutOfOrder": .writesKept,
            "ownWriteHidden": .ownWrites, "changeLeftOut": .changes,
        ]

        private static let clean = CleanSeeds { seed in
            try violation { try World(WorldSettings(seed: seed)).run() }
        }

        @Test(arguments: PlantedDefects.all.map(\.name))
        func `a planted defect is found by its check, and nothing is without it`(
            name: String
        ) throws {
            let defect = try #require(PlantedDefects.all.first { $0.name == name }?.defect)
            let check = try #require(Self.expected[name], "no check is named for \(name)")
            try Self.clean.expect(name, to: check) { seed in
                var settings = WorldSettings(seed: seed)
                settings.defects = defect
                return try violation { try World(settings).run() }
            }
        }
    }
#endif
