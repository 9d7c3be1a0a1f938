import Testing
import TestSupport
import TidemarkModel

/// Streams with random targets are cut and resumed at random, by token, by time and with old
/// tokens, across restarts, while random commits run. At every boundary, a client must hold the
/// documents that the query returns.
///
/// `TIDEMARK_LISTEN_SEEDS=17` repeats one seed; `0..<10000` runs a range of seeds.
@Suite(.ownThread) struct ListenCheckerTests {
    @Test(arguments: SeedRange("TIDEMARK_LISTEN_SEEDS", 0..<1_000).shares)
    func `clients hold what the query returns, whatever was cut and resumed`(
        seeds: Range<UInt64>
    ) throws {
        for seed in seeds {
            var world = try CheckedWorld(seed: seed)
            do {
                try world.run(steps: 20)
            } catch {
                let text = (error as? Violation)?.text ?? "\(error)"
                Issue.record("\(text): again with TIDEMARK_LISTEN_SEEDS=\(seed)\n\(world.log)")
            }
        }
    }
}
