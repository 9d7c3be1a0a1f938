/// Waits for `operation` for at most `time`. At the limit, the function cancels `operation` and
/// returns without waiting for it.
///
/// - Parameters:
///   - time: The time limit on `clock`; nil for no limit.
///   - clock: The system's clock that continues while the device sleeps, or a test's own clock.
///   - operation: Continues until it reacts to its cancellation. A late result is dropped.
/// - Throws: ``AttemptTimedOut`` after the limit; `CancellationError` immediately if the caller's
///   task is cancelled; the error of `operation`.
public func withTimeout<Value: Sendable, C: Clock>(
    _ time: Duration?, clock: C, _ operation: @escaping @Sendable () async throws -> Value
) async throws -> Value where C.Duration == Duration {
    try await race(on: clock, within: time, operation)
}

/// Like ``withTimeout(_:clock:_:)``, on the system's clock.
public func withTimeout<Value: Sendable>(
    _ time: Duration?, _ operation: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    try await race(on: ContinuousClock(), within: time, operation)
}
