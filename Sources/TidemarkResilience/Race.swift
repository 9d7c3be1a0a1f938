import Synchronization

/// The error of an attempt that exceeded its time limit.
public struct AttemptTimedOut: Error, Hashable, Sendable {}

/// Runs `operation` for at most `time`. At the limit, the function cancels `operation` and returns
/// without waiting for it. A limit that is checked only between attempts would never end an attempt
/// that hangs.
///
/// - Parameters:
///   - time: The time limit; nil for no limit.
///   - spare: The delay after which the operation is started once more in parallel, as long as none
///     has ended, and the maximum number of parallel runs. The first success counts, or the last
///     failure.
///   - allowSpare: Called before each additional run; returns true to allow it. Nil always allows
///     it.
/// - Throws: The error of `operation`, ``AttemptTimedOut``, or `CancellationError` if the caller is
///   cancelled. A cancelled caller does not wait either.
func race<Value: Sendable, C: Clock>(
    on clock: C, within time: Duration?, spare: RetryPolicy.Hedging? = nil,
    allowSpare: (@Sendable () -> Bool)? = nil,
    _ operation: @escaping @Sendable () async throws -> Value
) async throws -> Value where C.Duration == Duration {
    try Task.checkCancellation()
    if time == nil, spare == nil { return try await operation() }
    let race = Race<Value>()
    return try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { continuation in
            race.begin(continuation)
            race.run(operation)
            if let time { race.limit(to: time, on: clock) }
            if let spare {
                race.add(
                    Task {
                        for _ in 1..<spare.most {
                            do { try await clock.sleep(for: spare.delay) } catch { return }
                            guard allowSpare?() ?? true else { return }
                            race.run(operation)
                        }
                    })
            }
        }
    } onCancel: {
        race.finish(.failure(CancellationError()))
    }
}

/// A race of parallel runs. The first to end decides, and the others are cancelled.
private final class Race<Value: Sendable>: Sendable {
    private struct State {
        var waiter: CheckedContinuation<Value, any Error>?
        var result: Result<Value, any Error>?
        var tasks: [Task<Void, Never>] = []
        /// Ends the time limit.
        var endLimit: (@Sendable () -> Void)?
        var running = 0
    }

    private let state = Mutex(State())

    func begin(_ waiter: CheckedContinuation<Value, any Error>) {
        let result = state.withLock { state in
            if state.result == nil { state.waiter = waiter }
            return state.result
        }
        if let result { waiter.resume(with: result) }
    }

    func run(_ operation: @escaping @Sendable () async throws -> Value) {
        state.withLock { $0.running += 1 }
        add(
            Task {
                do { self.finish(.success(try await operation())) } catch { self.fail(error) }
            })
    }

    /// Ends the race with ``AttemptTimedOut`` after `time`.
    func limit<C: Clock>(to time: Duration, on clock: C) where C.Duration == Duration {
        let endLimit: @Sendable () -> Void
        if clock is ContinuousClock {
            let number = systemLimits.begin(time) { self.finish(.failure(AttemptTimedOut())) }
            endLimit = { systemLimits.end(number) }
        } else {
            let sleep = Task {
                do { try await clock.sleep(for: time) } catch { return }
                self.finish(.failure(AttemptTimedOut()))
            }
            endLimit = { sleep.cancel() }
        }
        let isOver = state.withLock { state in
            if state.result == nil { state.endLimit = endLimit }
            return state.result != nil
        }
        if isOver { endLimit() }
    }

    func add(_ task: Task<Void, Never>) {
        let isOver = state.withLock { state in
            if state.result == nil { state.tasks.append(task) }
            return state.result != nil
        }
        if isOver { task.cancel() }
    }

    private func fail(_ error: any Error) {
        let isLast = state.withLock { state in
            state.running -= 1
            return state.running == 0
        }
        if isLast { finish(.failure(error)) }
    }

    func finish(_ result: Result<Value, any Error>) {
        let ended = state.withLock { state -> State? in
            guard state.result == nil else { return nil }
            state.result = result
            defer { (state.waiter, state.tasks, state.endLimit) = (nil, [], nil) }
            return state
        }
        guard let ended else { return }
        ended.waiter?.resume(with: result)
        ended.endLimit?()
        for task in ended.tasks { task.cancel() }
    }
}
