import Synchronization
import TidemarkModel
public import TidemarkServer

extension VirtualScheduler {
    /// Returns the time and the random numbers for a `FaultyTransport` on this scheduler. The same
    /// seed gives the same faults.
    public func faultEnvironment(seed: UInt64 = 0) -> FaultEnvironment {
        let chance = VirtualChance(seed: seed)
        return FaultEnvironment(
            elapsed: { [self] in elapsed }, schedule: { [self] in schedule(after: $0, $1) },
            random: { chance.next() })
    }
}

private final class VirtualChance: Sendable {
    private let generator: Mutex<SeededRandom>

    init(seed: UInt64) { generator = Mutex(SeededRandom(seed: seed)) }

    func next() -> Double { generator.withLock { .random(in: 0..<1, using: &$0) } }
}
