/// How often, how soon and for how long something is tried again. A value: the same for every call it
/// is used for; ``RetryMachine`` is one call's use of it.
public struct RetryPolicy: Hashable, Sendable {
    /// By how much a delay is moved, so that clients cut off together do not come back together.
    public enum Jitter: Hashable, Sendable {
        /// Not at all.
        case none
        /// Anything from nothing to the delay.
        case full
        /// Half of the delay, and anything up to the other half.
        case equal
        /// From the first delay up to three times the one before.
        case decorrelated
    }

    /// Attempts after the first.
    public var maxRetries: Int
    /// The delay before the first retry, without jitter.
    public var initialDelay: Duration
    /// By what each is longer than the one before.
    public var factor: Double
    /// None is longer.
    public var maximumDelay: Duration
    public var jitter: Jitter
    /// What every delay is multiplied by: 0.001 for a test that cannot inject a clock.
    public var delayScale: Double
    /// How long one attempt may take, each its own; nil for no limit.
    public var attemptTimeout: Duration?
    /// How long it all may take, the waits too; nil for no limit. The last attempt gets what is left.
    public var totalTimeout: Duration?
    /// Whether it waits while there is no network. That uses up no attempts.
    public var waitsForNetwork: Bool
    /// For reads: a second attempt beside one that is slow. Every one is billed, and takes from the
    /// budget of retries. Off by default, and in every policy of this module.
    public var hedging: Hedging?

    public struct Hedging: Hashable, Sendable {
        /// How long an attempt is alone.
        public var delay: Duration
        /// Attempts at the same time, the first one too: 2 or 3.
        public var most: Int

        /// - Precondition: `delay > 0`, and `most` is 2 or 3.
        public init(after delay: Duration, most: Int = 2) {
            precondition(delay > .zero && (2...3).contains(most))
            self.delay = delay
            self.most = most
        }
    }

    /// - Precondition: `maxRetries` is 0 to 1,000, delays are not negative, and `factor` is at least 1.
    public init(
        maxRetries: Int = 4, initialDelay: Duration = .milliseconds(100), factor: Double = 1.3,
        maximumDelay: Duration = .seconds(60), jitter: Jitter = .full, delayScale: Double = 1,
        attemptTimeout: Duration? = nil, totalTimeout: Duration? = nil,
        waitsForNetwork: Bool = true, hedging: Hedging? = nil
    ) {
        precondition((0...1_000).contains(maxRetries), "a policy has 0 to 1,000 retries")
        precondition(initialDelay >= .zero && maximumDelay >= initialDelay)
        precondition(factor >= 1 && factor.isFinite && delayScale >= 0 && delayScale.isFinite)
        self.maxRetries = maxRetries
        self.initialDelay = initialDelay
        self.factor = factor
        self.maximumDelay = maximumDelay
        self.jitter = jitter
        self.delayScale = delayScale
        self.attemptTimeout = attemptTimeout
        self.totalTimeout = totalTimeout
        self.waitsForNetwork = waitsForNetwork
        self.hedging = hedging
    }

    /// Once.
    public static let none = RetryPolicy(maxRetries: 0, waitsForNetwork: false)

    /// For an app on a phone: 3 retries after 2, 4 and 8 s, 10 s for each attempt.
    /// Source: journeys 4.
    public static let mobile = RetryPolicy(
        maxRetries: 3, initialDelay: .seconds(2), factor: 2, maximumDelay: .seconds(8),
        jitter: .none, attemptTimeout: .seconds(10))

    /// As Firestore's service configuration has it: 5 attempts, 0.1 s growing by 1.3 up to 60 s.
    /// 300 s for an attempt to read. Source: resilience 3.
    public static let firestoreRead = RetryPolicy(attemptTimeout: .seconds(300))
    /// The same, with 60 s for an attempt to write.
    public static let firestoreWrite = RetryPolicy(attemptTimeout: .seconds(60))
}
