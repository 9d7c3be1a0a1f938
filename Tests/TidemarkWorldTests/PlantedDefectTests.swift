#if TIDEMARK_DEFECTS
    import Testing
    import TidemarkSync
    import TidemarkTesting

    /// The World finds bugs: each of these is planted in the engine, and a seed shows it.
    struct PlantedDefectTests {
        /// The first seed that catches each. `TIDEMARK_WORLD_DEFECTS=1` looks for them anew.
        static let seeds: [(name: String, seed: UInt64)] = [
            ("tokenStoredEarly", 0), ("lostRequeue", 0), ("limboUnresolved", 0),
            ("ackTakenTwice", 0), ("overlayNotRecomputed", 0), ("existenceFilterIgnored", 0),
            ("removalRace", 0), ("sentTwiceAfterRestart", 0),
        ]

        @Test(arguments: seeds)
        func `a planted defect is found, and without it all is well`(
            name: String, seed: UInt64
        ) throws {
            let defect = try #require(PlantedDefects.all.first { $0.name == name }?.defect)
            #expect(throws: WorldViolation.self, "\(name) hides from seed \(seed)") {
                try Self.play(seed, defect)
            }
            try Self.play(seed, [])
        }

        private static func play(_ seed: UInt64, _ defects: PlantedDefects) throws {
            var settings = WorldSettings(seed: seed)
            settings.defects = defects
            try World(settings).run()
        }
    }
#endif
