/// The delays between attempts of an operation that keeps failing: a stream, a transaction.
///
/// The first retry has no delay. The next delay is 1 s, and each further delay is half again as
/// long, up to 60 s. Jitter changes each delay by up to half, so that clients cut off together do
/// not all return together. The caller decides which results are failures and when a series of
/// failures ends.
///
/// The constants are those of Firestore's own clients (client-engine 2.0).
public struct Backoff: Hashable, Sendable {
    /// The first nonzero delay, before jitter.
    public let initial: Duration
    /// The factor by which each delay exceeds the previous one.
    public let factor: Double
    /// The longest delay, before jitter.
    public let maximum: Duration

    /// The next delay before jitter; zero before the first failure.
    private var base: Duration = .zero
    private var isInhibited = false

    /// - Precondition: `0 < initial <= maximum`, and `factor` is at least 1.
    public init(
        initial: Duration = .seconds(1), factor: Double = 1.5, maximum: Duration = .seconds(60)
    ) {
        precondition(initial > .zero && initial <= maximum, "delays must be able to grow")
        precondition(factor >= 1 && factor.isFinite, "delays must not shrink")
        self.initial = initial
        self.factor = factor
        self.maximum = maximum
    }

    /// Returns the delay before the next attempt. Each call counts as one more failure.
    ///
    /// - Parameters:
    ///   - jitter: A number in `0 ..< 1` from the injected source; `0.5` changes nothing.
    ///   - elapsed: The time since the last attempt *began*, which counts towards the delay.
    /// - Returns: Zero, or at most one and a half times ``maximum``.
    public mutating func next(jitter: Double, sinceLastAttempt elapsed: Duration = .zero)
        -> Duration
    {
        precondition((0..<1).contains(jitter), "jitter is a fraction")
        let delay = isInhibited ? .zero : base * (0.5 + jitter)
        isInhibited = false
        base = base == .zero ? initial : Swift.min(base * factor, maximum)
        // A clock that was set back must not lengthen the delay.
        return Swift.max(.zero, delay - Swift.max(.zero, elapsed))
    }

    /// Ends the series of failures after a success.
    public mutating func reset() {
        base = .zero
        isInhibited = false
    }

    /// Removes the next delay because something changed: the network returned, or the app became
    /// active. The series of failures continues: if that attempt fails too, the delays continue
    /// where they were. So an unstable network cannot cause a busy loop.
    public mutating func inhibit() { isInhibited = true }

    /// Makes the next delay the longest, because the server is overloaded (`RESOURCE_EXHAUSTED`).
    public mutating func jumpToMaximum() {
        base = maximum
        isInhibited = false
    }
}
