import Synchronization

/// Carries what a closure of the engine made to the task that waits for the engine.
final class Made<Value: Sendable>: Sendable {
    private let storage = Mutex<Value?>(nil)

    var value: Value? { storage.withLock { $0 } }

    func set(_ value: Value) { storage.withLock { $0 = value } }
}
