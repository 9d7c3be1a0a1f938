import Synchronization

/// Limits the wrong tokens of an address: 20, and then one for each second.
///
/// Above the limit, a caller is refused without a check of the token, so guesses reveal nothing.
/// Bearer tokens from programs on this machine are not counted. Otherwise, a program with an old
/// token would lock out the others.
final class GuessLimit: Sendable {
    static let burst = 20
    private static let interval = Duration.seconds(1)
    /// The maximum number of stored addresses. Above it, the addresses with the most remaining
    /// tries are dropped.
    private static let maxAddresses = 10_000

    private struct Bucket {
        var left: Int
        /// The time of the last refill.
        var time: Duration
    }

    private let buckets = Mutex<[String: Bucket]>([:])
    private let clock: @Sendable () -> Duration

    /// - Parameter clock: Returns the time since a fixed start.
    init(clock: @escaping @Sendable () -> Duration = GuessLimit.uptime) { self.clock = clock }

    private static let start = ContinuousClock.now
    static let uptime: @Sendable () -> Duration = { start.duration(to: .now) }

    /// Takes one try. If the token is right, the caller must return the try with ``giveBack(_:)``.
    ///
    /// - Returns: False if the address has no tries left.
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

    /// Returns true for a loopback address.
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

    /// Keeps the half of the addresses with the fewest remaining tries.
    private static func forget(_ buckets: inout [String: Bucket], _ now: Duration) {
        let kept = buckets.sorted { refilled($0.value, now).left < refilled($1.value, now).left }
        let half = kept.prefix(maxAddresses / 2).map { ($0.key, $0.value) }
        buckets = Dictionary(uniqueKeysWithValues: half)
    }
}
