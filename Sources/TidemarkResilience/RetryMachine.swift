/// One call's attempts: decides after each what comes next. Pure; it is told the time, the dice, the
/// network and the budget.
public struct RetryMachine: Hashable, Sendable {
    /// Attempts whose history is kept: the newest.
    public static let keptAttempts = 32

    public enum Event: Hashable, Sendable {
        case start(isOnline: Bool)
        /// - Parameters:
        ///   - jitter: In `0 ..< 1`.
        ///   - isOnline: Whether there is a network now. Without one, the attempt does not count.
        ///   - budgetAllows: Whether the process may make one more retry.
        case failed(Failure, jitter: Double, isOnline: Bool = true, budgetAllows: Bool = true)
        /// The wait that was asked for is over, or the network is there.
        case ready
        case refreshed(isDone: Bool)
    }

    public enum Step: Hashable, Sendable {
        /// - Parameter timeout: When it is to be cut off; nil for never.
        case attempt(timeout: Duration?)
        case wait(Duration)
        case awaitNetwork(timeout: Duration?)
        /// Once for all calls that need it, then ``Event/refreshed(isDone:)``.
        case refreshCredentials(timeout: Duration?)
        case giveUp(Reason)
    }

    /// Why there is no further attempt.
    public enum Reason: Hashable, Sendable {
        case permanent, cancelled
        /// No attempt is left.
        case attempts
        /// No time is left, or less than the next wait takes.
        case deadline
        /// The server said not to.
        case refused
        /// Too many of the process's calls are retries already.
        case budget
        /// The credentials were refreshed once and refused again, or could not be.
        case authentication
        /// The attempt may have done what it was for, and twice would be wrong.
        case mayHaveHappened
    }

    /// One attempt, by the call's own time.
    public struct Attempt: Hashable, Sendable {
        public let number: Int
        public let began: Duration
        public var ended: Duration?
        public var failure: Failure?
    }

    public let policy: RetryPolicy
    public let safety: CallSafety
    public private(set) var attempts: [Attempt] = []
    /// Of all, the ones that were made without a network too.
    public private(set) var attemptsMade = 0
    private var retries = 0
    private var lastDelay: Duration?
    /// From what the server asked for, delays grow from there.
    private var base: Duration
    private var hasRefreshed = false
    /// When it all must be over, the refresh of credentials too; nil for never.
    private let total: Duration?

    /// - Parameters:
    ///   - policy: How often, how long, and after which waits.
    ///   - safety: Whether the call may be made twice.
    ///   - deadline: What the caller has left, counted from the start; the policy's own limit holds too.
    public init(_ policy: RetryPolicy, _ safety: CallSafety, deadline: Duration? = nil) {
        self.policy = policy
        self.safety = safety
        base = policy.initialDelay
        total = [policy.totalTimeout, deadline].compactMap { $0 }.min()
    }

    /// Decides what comes next.
    ///
    /// - Parameters:
    ///   - event: What has happened.
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
            // A call that had no network is not the server's failure: it costs no attempt.
            if !isOnline, policy.waitsForNetwork { return awaitNetwork(now) }
            if retries >= policy.maxRetries { return .giveUp(.attempts) }
            if !budgetAllows { return .giveUp(.budget) }
            retries += 1
            let delay = nextDelay(after: failure, jitter)
            if let total, now + delay >= total { return .giveUp(.deadline) }
            return delay > .zero ? .wait(delay) : attempt(now)
        }
    }

    /// Whether a failure would be followed by a retry, which somebody has to allow. What ends the call
    /// whatever the budget says, and what waits for a network or for credentials, needs no credit.
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

    /// Nil when no time is left; a value of nil when there is no limit.
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
        // What was refused for its credentials was not looked at.
        let isHarmless = failure.hadNoEffect || failure.kind == .authentication
        return safety == .write && !isHarmless ? .mayHaveHappened : nil
    }

    private mutating func nextDelay(after failure: Failure, _ jitter: Double) -> Duration {
        precondition((0..<1).contains(jitter), "jitter is a fraction")
        var delay = moved(base, jitter)
        // The server asked for air: the longest wait, unless it says how long.
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
