import Foundation
import Testing
import TestSupport
import TidemarkModel

/// Streams with random targets are cut and resumed at random, by token, by time and with old
/// tokens, across restarts, while random commits run. At every boundary, a client must hold the
/// documents that the query returns.
///
/// `TIDEMARK_LISTEN_SEEDS=17` repeats one seed; `0..<10000` runs a range of seeds.
@Suite(.ownThread) struct ListenCheckerTests {
    static let cases: [Range<UInt64>] = {
        let text = ProcessInfo.processInfo.environment["TIDEMARK_LISTEN_SEEDS"] ?? "0..<1000"
        let bounds = text.components(separatedBy: "..<").compactMap { UInt64($0) }
        guard let first = bounds.first, bounds.count < 3 else {
            preconditionFailure("TIDEMARK_LISTEN_SEEDS is a seed, or a range as 0..<1000")
        }
        let end = bounds.count == 2 ? bounds[1] : first + 1
        return stride(from: first, to: end, by: 50).map { $0..<min($0 + 50, end) }
    }()

    @Test(arguments: cases)
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
