import Synchronization

/// Passes a value that a closure created inside the engine to the task that waits for the engine.
final class ResultBox<Value: Sendable>: Sendable {
    private let storage = Mutex<Value?>(nil)

    var value: Value? { storage.withLock { $0 } }

    func set(_ value: Value) { storage.withLock { $0 = value } }
}
