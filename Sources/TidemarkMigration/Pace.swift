/// The pace of the writes: at most `rate` documents a second, on average since the first.
package struct Pace: Hashable, Sendable {
    package let rate: Int
    /// The earliest time of the next write, since the start.
    private var next: Duration = .zero

    /// - Precondition: `rate` is positive.
    package init(rate: Int) {
        precondition(rate > 0, "a rate of nothing would never end")
        self.rate = rate
    }

    /// The number of documents in one call: at most what one second allows, and what Firestore
    /// accepts in one call.
    package var batchSize: Int { min(rate, 500) }

    /// Returns the time to wait before the next write; zero if it may start.
    package func delay(at now: Duration) -> Duration { max(.zero, next - now) }

    /// Notes a write of `count` documents that starts now.
    package mutating func start(_ count: Int, at now: Duration) {
        next = max(next, now) + .seconds(1) * count / rate
    }
}
