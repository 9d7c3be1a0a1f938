/// The limits on attempts, as buckets that refill over time.
package struct AttemptLimits: Hashable, Sendable {
    package struct Bucket: Hashable, Sendable {
        /// The maximum number of attempts in a row.
        package var capacity: Int
        /// The time until the bucket gains an attempt.
        package var refill: Duration

        package init(_ capacity: Int, oneMoreEvery refill: Duration) {
            precondition(capacity > 0 && refill > .zero)
            self.capacity = capacity
            self.refill = refill
        }
    }

    /// Wrong passwords for an account, from any caller.
    package var account = Bucket(10, oneMoreEvery: .seconds(60))
    /// Wrong passwords from an address, for any account.
    package var address = Bucket(50, oneMoreEvery: .seconds(10))
    /// New accounts from an address: a hundred per hour. Source: Firebase's limits, "Sign-up".
    package var signUp = Bucket(100, oneMoreEvery: .seconds(36))
    /// Codes that are sent to a mail address.
    package var code = Bucket(5, oneMoreEvery: .seconds(300))

    package init() {}
}

/// Counts attempts. Above the capacity the oldest keys are forgotten. The loss is small, because a
/// bucket without recent attempts is full again.
struct AttemptLimiter {
    /// The maximum number of keys.
    static let capacity = 100_000

    private struct Level {
        var attempts: Int
        var at: Duration
    }

    private var levels: [String: Level] = [:]
    private var order: [String] = []
    private var oldest = 0

    /// The number of keys.
    var count: Int { levels.count }

    /// Takes an attempt from a bucket.
    ///
    /// - Parameter now: The time since any fixed moment.
    /// - Returns: False if no attempt was left.
    mutating func take(
        _ key: String, _ bucket: AttemptLimits.Bucket, now: Duration
    ) -> Bool {
        var level = level(key, bucket: bucket, now: now)
        if level.attempts == 0 { return false }
        level.attempts -= 1
        set(key, level)
        return true
    }

    /// Returns true if an attempt is left.
    func allows(_ key: String, _ bucket: AttemptLimits.Bucket, now: Duration) -> Bool {
        level(key, bucket: bucket, now: now).attempts > 0
    }

    /// Returns an attempt to a bucket, because the attempt was correct.
    mutating func giveBack(_ key: String, _ bucket: AttemptLimits.Bucket, now: Duration) {
        var level = level(key, bucket: bucket, now: now)
        level.attempts = min(bucket.capacity, level.attempts + 1)
        set(key, level)
    }

    private func level(
        _ key: String, bucket: AttemptLimits.Bucket, now: Duration
    ) -> Level {
        guard let known = levels[key] else { return Level(attempts: bucket.capacity, at: now) }
        // A clock that was set back changes nothing.
        let passed = max(.zero, now - known.at)
        let more = Int(min(passed / bucket.refill, Double(bucket.capacity)))
        if known.attempts + more >= bucket.capacity {
            return Level(attempts: bucket.capacity, at: now)
        }
        return Level(attempts: known.attempts + more, at: known.at + bucket.refill * more)
    }

    private mutating func set(_ key: String, _ level: Level) {
        if levels.updateValue(level, forKey: key) != nil { return }
        if levels.count <= Self.capacity {
            order.append(key)
            return
        }
        // The keys form a ring, in the order of their arrival.
        levels[order[oldest]] = nil
        order[oldest] = key
        oldest = (oldest + 1) % Self.capacity
    }
}
