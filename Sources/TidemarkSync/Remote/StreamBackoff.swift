import TidemarkResilience

/// The delay before a stream opens again, counted from its last attempt.
struct StreamBackoff: Equatable, Sendable {
    private var backoff = Backoff()
    private var lastAttempt: Duration?

    mutating func reset() { backoff.reset() }
    mutating func inhibit() { backoff.inhibit() }
    mutating func jumpToMaximum() { backoff.jumpToMaximum() }

    /// - Parameters:
    ///   - elapsed: The scheduler's time.
    ///   - jitter: A random number in `0 ..< 1`.
    mutating func nextDelay(elapsed: Duration, jitter: Double) -> Duration {
        let passed = lastAttempt.map { elapsed - $0 } ?? .zero
        let delay = backoff.next(jitter: jitter, sinceLastAttempt: passed)
        lastAttempt = elapsed + delay
        return delay
    }
}
