import Dispatch

/// Threads for work that waits for a disk or computes for long, so Swift's own few threads stay
/// free.
struct BlockingLane: Sendable {
    private let queue: DispatchQueue

    init(_ label: String, isConcurrent: Bool) {
        queue = DispatchQueue(label: label, attributes: isConcurrent ? .concurrent : [])
    }

    func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value
    {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try body() }) }
        }
    }

    func begin(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }
}
