import Synchronization

/// The observers of a value: each gets the present value, and a slow observer skips to the newest.
final class Watchers<Value: Sendable>: Sendable {
    private struct State {
        var value: Value
        var inputs: [Int: AsyncStream<Value>.Continuation] = [:]
        var last = 0
    }

    private let state: Mutex<State>

    init(_ value: Value) { state = Mutex(State(value: value)) }

    deinit { for input in state.withLock({ Array($0.inputs.values) }) { input.finish() } }

    var stream: AsyncStream<Value> {
        let (stream, input) = AsyncStream.makeStream(
            of: Value.self, bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state in
            state.last += 1
            state.inputs[state.last] = input
            input.yield(state.value)
            return state.last
        }
        // The removal runs in a separate task: a cancellation holds a lock of the cancelled task
        // here. `notify` takes that lock, to resume the task, while it holds this object's lock.
        input.onTermination = { [weak self] _ in Task { self?.remove(number) } }
        return stream
    }

    private func remove(_ number: Int) {
        state.withLock { _ = $0.inputs.removeValue(forKey: number) }
    }

    func notify(_ value: Value) {
        state.withLock { state in
            state.value = value
            for input in state.inputs.values { input.yield(value) }
        }
    }
}
