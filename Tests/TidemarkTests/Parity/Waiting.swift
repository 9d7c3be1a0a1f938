import Synchronization
import Tidemark

/// Records the values of a closure's calls. A test can wait for them.
final class Called<Value: Sendable>: Sendable {
    private struct State {
        var values: [Value] = []
        var waiting: CheckedContinuation<Value, Never>?
    }

    private let state = Mutex(State())

    func with(_ value: Value) {
        let waiting = state.withLock { state in
            if state.waiting == nil { state.values.append(value) }
            return state.waiting.take()
        }
        waiting?.resume(returning: value)
    }

    /// Returns the first value that was not returned yet, or waits for the next one.
    func value() async -> Value {
        await withCheckedContinuation { continuation in
            let early: Value? = state.withLock { state in
                if !state.values.isEmpty { return state.values.removeFirst() }
                state.waiting = continuation
                return nil
            }
            if let early { continuation.resume(returning: early) }
        }
    }
}

/// Waits for the completion of a call that returns only an error.
func completed(
    _ start: (_ completion: @escaping @Sendable ((any Error)?) -> Void) -> Void
) async throws {
    let called = Called<(any Error)?>()
    start { called.with($0) }
    if let error = await called.value() { throw error }
}

/// Waits for the completion of a call that returns a value or an error.
func completed<Value: Sendable>(
    _ start: (_ completion: @escaping @Sendable (Value?, (any Error)?) -> Void) -> Void
) async throws -> Value {
    let called = Called<(Value?, (any Error)?)>()
    start { called.with(($0, $1)) }
    let (value, error) = await called.value()
    if let error { throw error }
    return value!
}
