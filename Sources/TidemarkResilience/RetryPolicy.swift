/// The number, the delays and the time limits of retries. A policy is a value for any number of
/// calls; a ``RetryMachine`` applies it to one call.
public struct RetryPolicy: Hashable, Sendable {
    /// The random change of a delay, so that clients cut off together do not return together.
    public enum Jitter: Hashable, Sendable {
        /// No change.
        case none
        /// A random time between zero and the delay.
        case full
        /// Half of the delay, plus a random time up to the other half.
        case equal
        /// A random time between the first delay and three times the previous one.
        case decorrelated
    }

    /// The maximum number of attempts after the first.
    public var maxRetries: Int
    /// The delay before the first retry, without jitter.
    public var initialDelay: Duration
    /// The factor by which each delay exceeds the previous one.
    public var factor: Double
    /// The longest delay, without jitter.
    public var maximumDelay: Duration
    public var jitter: Jitter
    /// The factor for every delay: 0.001 for a test that cannot inject a clock.
    public var delayScale: Double
    /// The time limit of each attempt; nil for no limit.
    public var attemptTimeout: Duration?
    /// The time limit of the whole call, including delays; nil for no limit. The last attempt gets
    /// the remaining time.
    public var totalTimeout: Duration?
    /// True if the call waits while there is no network. Waiting uses no attempts.
    public var waitsForNetwork: Bool
    /// A parallel second attempt for a slow read. Each attempt is billed, and each additional one
    /// takes from the retry budget. Off by default and in every policy of this module.
    public var hedging: Hedging?

    public struct Hedging: Hashable, Sendable {
        /// The time after which a parallel attempt starts.
        public var delay: Duration
        /// The maximum number of parallel attempts, including the first: 2 or 3.
        public var most: Int

        /// - Precondition: `delay > 0`, and `most` is 2 or 3.
        public init(after delay: Duration, most: Int = 2) {
            precondition(delay > .zero && (2...3).contains(most))
            self.delay = delay
            self.most = most
        }
    }

    /// - Precondition: `maxRetries` is 0 to 1,000, delays are not negative, and `factor` is at
    ///   least 1.
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

    /// A single attempt without retries.
    public static let none = RetryPolicy(maxRetries: 0, waitsForNetwork: false)

    /// A policy for an app on a phone: 3 retries after 2, 4 and 8 s, and 10 s for each attempt.
    /// Source: journeys 4.
    public static let mobile = RetryPolicy(
        maxRetries: 3, initialDelay: .seconds(2), factor: 2, maximumDelay: .seconds(8),
        jitter: .none, attemptTimeout: .seconds(10))

    /// The policy of Firestore's service configuration: 5 attempts, delays from 0.1 s growing by
    /// 1.3 up to 60 s, and 300 s for an attempt to read. Source: resilience 3.
    public static let firestoreRead = RetryPolicy(attemptTimeout: .seconds(300))
    /// The same policy with 60 s for an attempt to write.
    public static let firestoreWrite = RetryPolicy(attemptTimeout: .seconds(60))
}
