/// The attempts of one call. Decides the next step after each attempt. A pure value: time, random
/// numbers, network and budget come as arguments.
public struct RetryMachine: Hashable, Sendable {
    /// The maximum number of attempts whose history is kept: the newest.
    public static let keptAttempts = 32

    public enum Event: Hashable, Sendable {
        case start(isOnline: Bool)
        /// - Parameters:
        ///   - jitter: A number in `0 ..< 1`.
        ///   - isOnline: True if the network is available. A failure without a network does not
        ///     count as an attempt.
        ///   - budgetAllows: True if the process's budget allows a retry.
        case failed(Failure, jitter: Double, isOnline: Bool = true, budgetAllows: Bool = true)
        /// The delay is over, or the network is available.
        case ready
        case refreshed(isDone: Bool)
    }

    public enum Step: Hashable, Sendable {
        /// - Parameter timeout: The time limit of the attempt; nil for none.
        case attempt(timeout: Duration?)
        case wait(Duration)
        case awaitNetwork(timeout: Duration?)
        /// Refresh the credentials, once for all calls that need them, then report
        /// ``Event/refreshed(isDone:)``.
        case refreshCredentials(timeout: Duration?)
        case giveUp(Reason)
    }

    /// The reason why there is no further attempt.
    public enum Reason: Hashable, Sendable {
        case permanent, cancelled
        /// The maximum number of attempts is reached.
        case attempts
        /// No time is left, or less than the next delay.
        case deadline
        /// The server asked not to retry.
        case refused
        /// Too many of the process's calls are already retries.
        case budget
        /// The credentials were refreshed once and rejected again, or could not be refreshed.
        case authentication
        /// The attempt may have taken effect, and a second one would be wrong.
        case mayHaveHappened
    }

    /// An attempt, with times since the call began.
    public struct Attempt: Hashable, Sendable {
        public let number: Int
        public let began: Duration
        public var ended: Duration?
        public var failure: Failure?
    }

    public let policy: RetryPolicy
    public let safety: CallSafety
    public private(set) var attempts: [Attempt] = []
    /// The number of all attempts, including those without a network.
    public private(set) var attemptsMade = 0
    private var retries = 0
    private var lastDelay: Duration?
    /// The base of the next delay. A delay that the server asked for raises it.
    private var base: Duration
    private var hasRefreshed = false
    /// The time at which the whole call must end, including the refresh of credentials; nil for
    /// never.
    private let total: Duration?

    /// - Parameters:
    ///   - policy: The number of retries, the time limits and the delays.
    ///   - safety: The effect of performing the call twice.
    ///   - deadline: The time that the caller has left, from the start. The policy's own limit
    ///     applies too.
    public init(_ policy: RetryPolicy, _ safety: CallSafety, deadline: Duration? = nil) {
        self.policy = policy
        self.safety = safety
        base = policy.initialDelay
        total = [policy.totalTimeout, deadline].compactMap { $0 }.min()
    }

    /// Decides the next step.
    ///
    /// - Parameters:
    ///   - event: The event that has happened.
    ///   - now: The time since the call began.
    public mutating func step(_ event: Event, at now: Duration) -> Step {
        switch event {
        case .start(let isOnline):
            if !isOnline, policy.waitsForNetwork { return awaitNetwork(now) }
            return attempt(now)
        case .ready: return attempt(now)
        case .refreshed(let isDone): return isDone ? attempt(now) : .giveUp(.authentication)
        case .failed(let failure, let jitter, let isOnline, let budgetAllows):
            note(failure, now)
            if let reason = end(after: failure) { return .giveUp(reason) }
            if failure.kind == .authentication { return refresh(now) }
            // A failure without a network is not the server's fault, so it uses no retry.
            if !isOnline, policy.waitsForNetwork { return awaitNetwork(now) }
            if retries >= policy.maxRetries { return .giveUp(.attempts) }
            if !budgetAllows { return .giveUp(.budget) }
            retries += 1
            let delay = nextDelay(after: failure, jitter)
            if let total, now + delay >= total { return .giveUp(.deadline) }
            return delay > .zero ? .wait(delay) : attempt(now)
        }
    }

    /// Returns true if a failure would be followed by a retry that needs the budget's permission. A
    /// failure that ends the call, and a wait for the network or for credentials, need none.
    public func wouldRetry(
        after failure: Failure, jitter: Double, isOnline: Bool = true, at now: Duration
    ) -> Bool {
        var trial = self
        switch trial.step(.failed(failure, jitter: jitter, isOnline: isOnline), at: now) {
        case .attempt, .wait: return true
        case .awaitNetwork, .refreshCredentials, .giveUp: return false
        }
    }

    private mutating func attempt(_ now: Duration) -> Step {
        guard let left = left(now) else { return .giveUp(.deadline) }
        attemptsMade += 1
        if attempts.count == Self.keptAttempts { attempts.removeFirst() }
        attempts.append(Attempt(number: attemptsMade, began: now))
        return .attempt(timeout: [policy.attemptTimeout, left.value].compactMap { $0 }.min())
    }

    private func awaitNetwork(_ now: Duration) -> Step {
        guard let left = left(now) else { return .giveUp(.deadline) }
        return .awaitNetwork(timeout: left.value)
    }

    private mutating func refresh(_ now: Duration) -> Step {
        if hasRefreshed { return .giveUp(.authentication) }
        hasRefreshed = true
        guard let left = left(now) else { return .giveUp(.deadline) }
        return .refreshCredentials(timeout: left.value)
    }

    /// Returns the time left: nil if no time is left, and a nil `value` if there is no limit.
    private func left(_ now: Duration) -> (value: Duration?, Void)? {
        guard let total else { return (nil, ()) }
        return now < total ? (total - now, ()) : nil
    }

    private mutating func note(_ failure: Failure, _ now: Duration) {
        guard !attempts.isEmpty else { return }
        attempts[attempts.count - 1].ended = now
        attempts[attempts.count - 1].failure = failure
    }

    private func end(after failure: Failure) -> Reason? {
        switch failure.kind {
        case .permanent: return .permanent
        case .cancelled: return .cancelled
        case .transient, .throttled, .authentication, .unknown: break
        }
        if failure.hint == .never { return .refused }
        // The server does not process a request whose credentials it rejects.
        let isHarmless = failure.hadNoEffect || failure.kind == .authentication
        return safety == .write && !isHarmless ? .mayHaveHappened : nil
    }

    private mutating func nextDelay(after failure: Failure, _ jitter: Double) -> Duration {
        precondition((0..<1).contains(jitter), "jitter is a fraction")
        var delay = moved(base, jitter)
        // The server is overloaded: uses the longest delay unless the server named one.
        if failure.kind == .throttled, failure.hint == nil {
            base = policy.maximumDelay
            delay = moved(base, jitter)
        }
        if case .after(let asked) = failure.hint {
            base = min(max(base, asked), max(policy.maximumDelay, asked))
            delay = max(delay, asked)
        }
        lastDelay = delay
        base = min(base * policy.factor, max(policy.maximumDelay, base))
        return delay * policy.delayScale
    }

    private func moved(_ delay: Duration, _ jitter: Double) -> Duration {
        switch policy.jitter {
        case .none: return delay
        case .full: return delay * jitter
        case .equal: return delay / 2 + delay / 2 * jitter
        case .decorrelated:
            let low = policy.initialDelay
            let high = max(low, (lastDelay ?? low) * 3)
            return min(policy.maximumDelay, low + (high - low) * jitter)
        }
    }
}
