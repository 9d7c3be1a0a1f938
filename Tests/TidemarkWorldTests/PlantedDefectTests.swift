#if TIDEMARK_DEFECTS
    import Testing
    import TidemarkSync
    import TidemarkTesting

    /// The World finds bugs: each of these is planted in the engine, and a seed shows it. Without them
    /// the same seeds pass, in ``WorldTests``.
    @Suite(.oneCore) struct PlantedDefectTests {
        /// More than any of them has needed.
        private static let seeds = UInt64(0)..<1_000

        @Test(arguments: PlantedDefects.all.map(\.name))
        func `a planted defect is found`(name: String) throws {
            let defect = try #require(PlantedDefects.all.first { $0.name == name }?.defect)
            for seed in Self.seeds {
                var settings = WorldSettings(seed: seed)
                settings.defects = defect
                let world = try World(settings)
                do { try world.run() } catch let violation as WorldViolation {
                    print("planted: \(name) is caught by seed \(seed): \(violation)".prefix(300))
                    return
                }
            }
            Issue.record("\(name) hides from all of \(Self.seeds)")
        }
    }
#endif
