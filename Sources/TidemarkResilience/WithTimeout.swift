/// Waits for `operation` for `time` at the most, and returns then whatever it does: it is cancelled, and
/// not waited for.
///
/// - Parameters:
///   - time: On `clock`; nil for no limit.
///   - clock: The system's, which goes on while the device sleeps; a test's own.
///   - operation: Goes on until it heeds its cancellation. What it returns then is dropped.
/// - Throws: ``AttemptTimedOut`` when the time is over, `CancellationError` when the caller's task is
///   cancelled, at once; what `operation` throws.
public func withTimeout<Value: Sendable, C: Clock>(
    _ time: Duration?, clock: C, _ operation: @escaping @Sendable () async throws -> Value
) async throws -> Value where C.Duration == Duration {
    try await race(on: clock, within: time, operation)
}

/// On the system's clock: ``withTimeout(_:clock:_:)``.
public func withTimeout<Value: Sendable>(
    _ time: Duration?, _ operation: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    try await race(on: ContinuousClock(), within: time, operation)
}
