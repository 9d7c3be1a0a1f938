/// Performs calls according to a ``RetryPolicy``, with a clock, random numbers, the network's state
/// and a shared budget.
///
/// ```swift
/// let page = try await Retry(.mobile).run { try await load() }
/// ```
///
/// ``Failure/init(_:)`` classifies errors. An error that can never succeed ends the call
/// immediately.
///
/// An attempt that exceeds its time limit is cancelled and abandoned, so a call never outlives its
/// deadline. Cancelling the caller's task ends the delay or the attempt immediately. An attempt
/// without any time limit is awaited and must react to its cancellation itself.
public struct Retry<C: Clock>: Sendable where C.Duration == Duration {
    public var policy: RetryPolicy
    public var clock: C
    /// The budget that all calls to the same backend share; nil for no limit.
    public var budget: RetryBudget?
    public var connectivity: Connectivity
    /// Returns a random number in `0 ..< 1`.
    public var random: @Sendable () -> Double
    /// Called for every attempt and delay, for logs and metrics.
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
    ///   - safety: The effect of performing the call twice. By default, `operation` may be
    ///     repeated; pass ``CallSafety/write`` for an operation that must not be.
    ///   - deadline: The maximum time that the caller waits, from now.
    ///   - classify: Classifies an error; by default, by its type. An attempt that exceeded its
    ///     timeout is `transient`.
    ///   - refresh: Gets new credentials, as in the other `run`.
    ///   - operation: Performs an attempt.
    /// - Throws: ``RetryError``, or `CancellationError` if the caller's task is cancelled.
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

    /// Runs `operation` until it succeeds or the policy ends, and passes the number of the attempt.
    ///
    /// - Parameters:
    ///   - safety: The effect of performing the call twice.
    ///   - deadline: The maximum time that the caller waits, from now.
    ///   - classify: Classifies an error; by default, by its type. An attempt that exceeded its
    ///     timeout is `transient`.
    ///   - refresh: Gets new credentials, once per call. Concurrent calls share the refresh if it
    ///     uses a ``SingleFlight``.
    ///   - operation: Performs an attempt. Gets the number of the attempt, from 1.
    /// - Throws: ``RetryError``, or `CancellationError` if the caller's task is cancelled.
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

    /// Returns the event of a failure. Withdraws from the budget only if the failure would be
    /// retried.
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

    /// Returns a function that asks the budget for a parallel attempt, which burdens the server as
    /// much as a retry.
    private func credit(forHedging number: Int) -> @Sendable () -> Bool {
        {
            guard budget?.withdraw() ?? true else { return false }
            onEvent?(.hedged(attempt: number))
            return true
        }
    }

    /// Waits for the network. After a timeout, the machine finds that no time is left.
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
    /// Uses the system's clock.
    ///
    /// - Parameters:
    ///   - policy: The delays and time limits.
    ///   - connectivity: The state of the network. Without a network, a call waits instead of
    ///     failing. By default, the network counts as available.
    public init(_ policy: RetryPolicy, connectivity: Connectivity = .always) {
        self.init(policy, clock: ContinuousClock(), connectivity: connectivity)
    }
}

/// The state of the network, as the system reports it.
public struct Connectivity: Sendable {
    public var isOnline: @Sendable () -> Bool
    /// Returns when the network is available. Throws only if its task is cancelled.
    public var untilOnline: @Sendable () async throws -> Void

    public init(
        isOnline: @escaping @Sendable () -> Bool,
        untilOnline: @escaping @Sendable () async throws -> Void
    ) {
        self.isOnline = isOnline
        self.untilOnline = untilOnline
    }

    /// A network that is always available, for systems without information about it.
    public static let always = Connectivity(isOnline: { true }, untilOnline: {})
}

/// An event of one call.
public enum RetryEvent: Hashable, Sendable {
    case began(attempt: Int)
    /// A parallel attempt began. If it is a read, it is billed.
    case hedged(attempt: Int)
    case failed(attempt: Int, Failure)
    case waiting(Duration)
    case waitingForNetwork, refreshingCredentials
    case succeeded(attempt: Int)
    case gaveUp(RetryMachine.Reason)
}

/// The reason why a call failed, and its attempts.
public struct RetryError: Error, Sendable {
    public let reason: RetryMachine.Reason
    /// The newest attempts, with their times since the call began and their results.
    public let attempts: [RetryMachine.Attempt]
    /// The number of all attempts, including those no longer in ``attempts``.
    public let attemptsMade: Int
    /// The error of the last attempt; nil if there was no attempt.
    public let last: (any Error)?
}
