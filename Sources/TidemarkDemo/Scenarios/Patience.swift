/// Runs an operation that could hang, and cancels it after `limit`.
func within<Value: Sendable>(
    _ limit: Duration, _ operation: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    try await withThrowingTaskGroup(of: Value.self) { group in
        group.addTask { try await operation() }
        group.addTask {
            try await Task.sleep(for: limit)
            throw TookTooLong(limit: limit)
        }
        defer { group.cancelAll() }
        guard let value = try await group.next() else { throw CancellationError() }
        return value
    }
}

struct TookTooLong: Error, CustomStringConvertible {
    let limit: Duration
    var description: String { "it took longer than \(limit.components.seconds) s" }
}

/// Waits until the screen shows everything, for at most 60 s. The comparison reports items that are
/// still missing.
func settling(_ operation: @escaping @Sendable () async throws -> Void) async throws {
    do { try await within(.seconds(60), operation) } catch is TookTooLong {}
}
