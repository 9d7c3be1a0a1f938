/// How long to wait before trying again something that keeps failing: a stream, a transaction.
///
/// Nothing before the first retry, then 1 s, growing by half each time up to 60 s. Each delay moves
/// by up to half either way, so that clients cut off together do not all come back together. The
/// caller decides what counts as a failure and what ends a run of them.
///
/// The constants are those of Firestore's own clients (client-engine 2.0).
public struct Backoff: Hashable, Sendable {
    /// What the first real delay is, before jitter.
    public let initial: Duration
    /// By what each delay is longer than the one before it.
    public let factor: Double
    /// No delay is longer, before jitter.
    public let maximum: Duration

    /// The next delay before jitter; zero until something failed.
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

    /// The wait before the next attempt; asking for it counts as one more failure.
    ///
    /// - Parameters:
    ///   - jitter: In `0 ..< 1`, from the injected source; `0.5` moves nothing.
    ///   - elapsed: How long ago the last attempt *began*: what has passed of the delay already.
    /// - Returns: Zero, or up to one and a half times ``maximum``.
    public mutating func next(jitter: Double, sinceLastAttempt elapsed: Duration = .zero)
        -> Duration
    {
        precondition((0..<1).contains(jitter), "jitter is a fraction")
        let delay = isInhibited ? .zero : base * (0.5 + jitter)
        isInhibited = false
        base = base == .zero ? initial : Swift.min(base * factor, maximum)
        // A clock that went back must not make the wait longer.
        return Swift.max(.zero, delay - Swift.max(.zero, elapsed))
    }

    /// It worked: the next failure is the first one again.
    public mutating func reset() {
        base = .zero
        isInhibited = false
    }

    /// Lets the next attempt go at once, because something changed (the network came back, the app
    /// came to the front). The run of failures is not forgotten: should that attempt fail too, the
    /// delays go on from where they were, so a network that flaps cannot make a busy loop.
    public mutating func inhibit() { isInhibited = true }

    /// The server said that it has had too much (`RESOURCE_EXHAUSTED`): the next delay is the longest.
    public mutating func jumpToMaximum() {
        base = maximum
        isInhibited = false
    }
}
