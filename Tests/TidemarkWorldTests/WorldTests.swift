import Foundation
import Testing
import TidemarkTesting

/// Three clients, the server, and everything between them, played from a seed.
///
/// `TIDEMARK_WORLD_SEEDS=17` plays one seed again and prints its whole log, `0..<100000` plays more.
@Suite(.oneCore) struct WorldTests {
    static let seeds: Range<UInt64> = {
        let text = ProcessInfo.processInfo.environment["TIDEMARK_WORLD_SEEDS"] ?? "0..<2000"
        let bounds = text.components(separatedBy: "..<").compactMap { UInt64($0) }
        guard let first = bounds.first, bounds.count < 3 else {
            preconditionFailure("TIDEMARK_WORLD_SEEDS is a seed, or a range as 0..<200")
        }
        return first..<(bounds.count == 2 ? bounds[1] : first + 1)
    }()

    static let shares: [Range<UInt64>] = stride(
        from: seeds.lowerBound, to: seeds.upperBound, by: 50
    ).map { $0..<min($0 + 50, seeds.upperBound) }

    @Test(arguments: shares)
    func `nothing is lost, doubled or made up, and all converge`(share: Range<UInt64>) throws {
        for seed in share {
            var settings = WorldSettings(seed: seed)
            settings.isVerbose = Self.seeds.count == 1
            let world = try World(settings)
            do { try world.run() } catch { Issue.record("\(world.report(error))") }
            if settings.isVerbose { print(world.log.joined(separator: "\n")) }
        }
    }

    @Test(arguments: [UInt64(3), 11, 42])
    func `the same seed gives the same history`(seed: UInt64) throws {
        let logs = try (0..<2).map { _ in
            let world = try World(WorldSettings(seed: seed))
            try world.run()
            return world.log
        }
        #expect(logs[0] == logs[1])
    }
}
