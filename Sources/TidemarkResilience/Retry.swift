/// Performs calls by a ``RetryPolicy``: with a clock, dice, the network's state and a shared budget.
///
/// ```swift
/// let page = try await Retry(.mobile).run { try await load() }
/// ```
///
/// What an error means is ``Failure/init(_:)``'s to say: one that can never succeed ends it at once.
///
/// Every attempt that exceeds its time is cancelled and left behind, so that a call never outlives its
/// deadline. Cancelling the caller's task ends the wait, or the attempt, at once; an attempt for which
/// there is no limit at all is waited for, and has to heed its cancellation itself.
public struct Retry<C: Clock>: Sendable where C.Duration == Duration {
    public var policy: RetryPolicy
    public var clock: C
    /// What all calls to the same backend share; nil for no limit.
    public var budget: RetryBudget?
    public var connectivity: Connectivity
    /// In `0 ..< 1`.
    public var random: @Sendable () -> Double
    /// Told of every attempt and wait, for logs and metrics.
    public var onEvent: (@Sendable (RetryEvent) -> Void)?

    public init(
        _ policy: RetryPolicy, clock: C, budget: RetryBudget? = nil,
        connectivity: Connectivity = .always,
        random: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) },
        onEvent: (@Sendable (RetryEvent) -> Void)? = nil
    ) {
        self.policy = policy
        self.clock = clock
        self.budget = budget
        self.connectivity = connectivity
        self.random = random
        self.onEvent = onEvent
    }

    /// Runs `operation` until it succeeds or the policy ends.
    ///
    /// - Parameters:
    ///   - safety: What being tried twice does. Unless it is said, `operation` may be repeated; say
    ///     ``CallSafety/write`` for one that may not.
    ///   - deadline: How long the caller waits at the most, from now.
    ///   - classify: What an error means; by its type, unless it is said. An attempt that was cut off by
    ///     its timeout is `transient`.
    ///   - refresh: As below.
    ///   - operation: One attempt.
    /// - Throws: ``RetryError``, or `CancellationError` when the caller's task is cancelled.
    public func run<Value: Sendable>(
        _ safety: CallSafety = .idempotentWrite, deadline: Duration? = nil,
        classify: @escaping @Sendable (any Error) -> Failure = { Failure($0) },
        refresh: (@Sendable () async throws -> Void)? = nil,
        _ operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await run(safety, deadline: deadline, classify: classify, refresh: refresh) { _ in
            try await operation()
        }
    }

    /// Runs `operation` until it succeeds or the policy ends, and tells it which attempt it is.
    ///
    /// - Parameters:
    ///   - safety: As above.
    ///   - deadline: How long the caller waits at the most, from now.
    ///   - classify: What an error means; by its type, unless it is said. An attempt that was cut off by
    ///     its timeout is `transient`.
    ///   - refresh: Gets new credentials, once; calls that need them at the same time share it when it
    ///     is a ``SingleFlight``'s.
    ///   - operation: Is told the attempt's number, from 1.
    /// - Throws: ``RetryError``, or `CancellationError` when the caller's task is cancelled.
    public func run<Value: Sendable>(
        _ safety: CallSafety = .idempotentWrite, deadline: Duration? = nil,
        classify: @escaping @Sendable (any Error) -> Failure = { Failure($0) },
        refresh: (@Sendable () async throws -> Void)? = nil,
        _ operation: @escaping @Sendable (_ attempt: Int) async throws -> Value
    ) async throws -> Value {
        let start = clock.now
        var machine = RetryMachine(policy, safety, deadline: deadline)
        var last: (any Error)?
        budget?.deposit()
        var step = machine.step(.start(isOnline: connectivity.isOnline()), at: .zero)
        while true {
            let event: RetryMachine.Event
            switch step {
            case .attempt(let timeout):
                let number = machine.attemptsMade
                onEvent?(.began(attempt: number))
                do {
                    let spare = safety == .read ? policy.hedging : nil
                    let value = try await race(
                        on: clock, within: timeout, spare: spare,
                        allowSpare: spare == nil ? nil : credit(forHedging: number)
                    ) { try await operation(number) }
                    onEvent?(.succeeded(attempt: number))
                    return value
                } catch {
                    try Task.checkCancellation()
                    last = error
                    let failure =
                        error is AttemptTimedOut
                        ? Failure(.transient) : classify(error)
                    onEvent?(.failed(attempt: number, failure))
                    event = failed(failure, machine, at: start.duration(to: clock.now))
                }
            case .wait(let delay):
                onEvent?(.waiting(delay))
                try await clock.sleep(for: delay)
                event = .ready
            case .awaitNetwork(let timeout):
                onEvent?(.waitingForNetwork)
                event = try await awaitNetwork(timeout)
            case .refreshCredentials(let timeout):
                onEvent?(.refreshingCredentials)
                event = .refreshed(isDone: try await run(refresh, timeout))
            case .giveUp(let reason):
                onEvent?(.gaveUp(reason))
                throw RetryError(
                    reason: reason, attempts: machine.attempts,
                    attemptsMade: machine.attemptsMade, last: last)
            }
            step = machine.step(event, at: start.duration(to: clock.now))
        }
    }

    /// Takes from the budget only for what would be tried again.
    private func failed(
        _ failure: Failure, _ machine: RetryMachine, at now: Duration
    ) -> RetryMachine.Event {
        let (jitter, isOnline) = (random(), connectivity.isOnline())
        let needsCredit = machine.wouldRetry(
            after: failure, jitter: jitter, isOnline: isOnline, at: now)
        return .failed(
            failure, jitter: jitter, isOnline: isOnline,
            budgetAllows: !needsCredit || budget?.withdraw() ?? true)
    }

    /// A second attempt beside a first one is as much of a burden as one after it.
    private func credit(forHedging number: Int) -> @Sendable () -> Bool {
        {
            guard budget?.withdraw() ?? true else { return false }
            onEvent?(.hedged(attempt: number))
            return true
        }
    }

    /// When the time is over before, the machine finds that no time is left.
    private func awaitNetwork(_ timeout: Duration?) async throws -> RetryMachine.Event {
        do {
            try await race(on: clock, within: timeout, connectivity.untilOnline)
        } catch is AttemptTimedOut {}
        return .ready
    }

    private func run(
        _ refresh: (@Sendable () async throws -> Void)?, _ timeout: Duration?
    ) async throws -> Bool {
        guard let refresh else { return false }
        do {
            try await race(on: clock, within: timeout, refresh)
            return true
        } catch {
            try Task.checkCancellation()
            return false
        }
    }
}

extension Retry where C == ContinuousClock {
    /// On the system's clock.
    public init(_ policy: RetryPolicy) { self.init(policy, clock: ContinuousClock()) }
}

/// Whether there is a network, as the system says.
public struct Connectivity: Sendable {
    public var isOnline: @Sendable () -> Bool
    /// Returns when there is one; throws only when its task is cancelled.
    public var untilOnline: @Sendable () async throws -> Void

    public init(
        isOnline: @escaping @Sendable () -> Bool,
        untilOnline: @escaping @Sendable () async throws -> Void
    ) {
        self.isOnline = isOnline
        self.untilOnline = untilOnline
    }

    /// For where nothing is known of it.
    public static let always = Connectivity(isOnline: { true }, untilOnline: {})
}

/// What happens in one call.
public enum RetryEvent: Hashable, Sendable {
    case began(attempt: Int)
    /// One more was started beside it: a read that is billed.
    case hedged(attempt: Int)
    case failed(attempt: Int, Failure)
    case waiting(Duration)
    case waitingForNetwork, refreshingCredentials
    case succeeded(attempt: Int)
    case gaveUp(RetryMachine.Reason)
}

/// Why a call was given up, and what was tried.
public struct RetryError: Error, Sendable {
    public let reason: RetryMachine.Reason
    /// The newest ones, with their times since the call began and what became of each.
    public let attempts: [RetryMachine.Attempt]
    /// All of them, also those whose history is not kept.
    public let attemptsMade: Int
    /// What the last attempt failed with; nil when there was none.
    public let last: (any Error)?
}
