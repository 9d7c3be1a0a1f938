import Synchronization

/// How often an address may show a wrong token: 20 times, and once a second after that.
///
/// A caller who has used that up is refused without a look at the token, so that guesses tell nothing. What
/// programs of this machine show as their bearer is not counted: one that has an old token would lock the
/// others out.
final class GuessLimit: Sendable {
    static let burst = 20
    private static let interval = Duration.seconds(1)
    /// Addresses that are remembered; beyond it the ones that have most left are forgotten.
    private static let maxAddresses = 10_000

    private struct Bucket {
        var left: Int
        /// When it was refilled last.
        var time: Duration
    }

    private let buckets = Mutex<[String: Bucket]>([:])
    private let clock: @Sendable () -> Duration

    /// - Parameter clock: Time since any beginning that never changes.
    init(clock: @escaping @Sendable () -> Duration = GuessLimit.uptime) { self.clock = clock }

    private static let start = ContinuousClock.now
    static let uptime: @Sendable () -> Duration = { start.duration(to: .now) }

    /// Takes one try. It is owed back, by ``giveBack(_:)``, when the token was right.
    ///
    /// - Returns: False where the address has none left.
    func take(_ address: String) -> Bool {
        let now = clock()
        return buckets.withLock { buckets in
            var bucket = Self.refilled(buckets[address], now)
            guard bucket.left > 0 else { return false }
            bucket.left -= 1
            buckets[address] = bucket
            if buckets.count > Self.maxAddresses { Self.forget(&buckets, now) }
            return true
        }
    }

    /// True for an address of this machine.
    static func isLoopback(_ address: String) -> Bool {
        address == "::1" || address.hasPrefix("127.") || address.hasPrefix("::ffff:127.")
    }

    func giveBack(_ address: String) {
        buckets.withLock { buckets in
            guard var bucket = buckets[address] else { return }
            bucket.left += 1
            buckets[address] = bucket.left < Self.burst ? bucket : nil
        }
    }

    private static func refilled(_ bucket: Bucket?, _ now: Duration) -> Bucket {
        guard var bucket else { return Bucket(left: burst, time: now) }
        let more = Int((now - bucket.time) / interval)
        if more > 0 {
            bucket.left = min(burst, bucket.left + more)
            bucket.time = now
        }
        return bucket
    }

    /// Keeps the half of the addresses that have least left.
    private static func forget(_ buckets: inout [String: Bucket], _ now: Duration) {
        let kept = buckets.sorted { refilled($0.value, now).left < refilled($1.value, now).left }
        let half = kept.prefix(maxAddresses / 2).map { ($0.key, $0.value) }
        buckets = Dictionary(uniqueKeysWithValues: half)
    }
}
