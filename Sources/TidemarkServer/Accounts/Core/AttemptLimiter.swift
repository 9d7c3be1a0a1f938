/// How many attempts are allowed, as buckets that fill up again.
package struct AttemptLimits: Hashable, Sendable {
    package struct Bucket: Hashable, Sendable {
        /// Attempts in a row.
        package var capacity: Int
        /// How long until there is one more.
        package var refill: Duration

        package init(_ capacity: Int, oneMoreEvery refill: Duration) {
            precondition(capacity > 0 && refill > .zero)
            self.capacity = capacity
            self.refill = refill
        }
    }

    /// Wrong passwords for one account, whoever tries.
    package var account = Bucket(10, oneMoreEvery: .seconds(60))
    /// Wrong passwords from one address, whatever the account.
    package var address = Bucket(50, oneMoreEvery: .seconds(10))
    /// New accounts from one address: a hundred an hour. Source: Firebase's limits, "Sign-up".
    package var signUp = Bucket(100, oneMoreEvery: .seconds(36))
    /// Codes sent to one address of mail.
    package var code = Bucket(5, oneMoreEvery: .seconds(300))

    package init() {}
}

/// Counts attempts. The oldest are forgotten where there are too many keys to know: a bucket that was
/// not touched for long is full again, so little is lost.
struct AttemptLimiter {
    /// Keys that are known at once.
    static let capacity = 100_000

    private struct Level {
        var attempts: Int
        var at: Duration
    }

    private var levels: [String: Level] = [:]
    private var order: [String] = []
    private var oldest = 0

    /// Keys that are known.
    var count: Int { levels.count }

    /// Takes one attempt away.
    ///
    /// - Parameter now: Time that has passed, from any beginning.
    /// - Returns: False when none was left.
    mutating func take(
        _ key: String, _ bucket: AttemptLimits.Bucket, now: Duration
    ) -> Bool {
        var level = level(key, bucket, now)
        if level.attempts == 0 { return false }
        level.attempts -= 1
        set(key, level)
        return true
    }

    /// Whether an attempt is left.
    func allows(_ key: String, _ bucket: AttemptLimits.Bucket, now: Duration) -> Bool {
        level(key, bucket, now).attempts > 0
    }

    /// Gives one back: it was no wrong one.
    mutating func giveBack(_ key: String, _ bucket: AttemptLimits.Bucket, now: Duration) {
        var level = level(key, bucket, now)
        level.attempts = min(bucket.capacity, level.attempts + 1)
        set(key, level)
    }

    private func level(
        _ key: String, _ bucket: AttemptLimits.Bucket, _ now: Duration
    ) -> Level {
        guard let known = levels[key] else { return Level(attempts: bucket.capacity, at: now) }
        // A clock that was set back takes nothing away and gives nothing.
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
        // A ring of the keys in the order they came.
        levels[order[oldest]] = nil
        order[oldest] = key
        oldest = (oldest + 1) % Self.capacity
    }
}
