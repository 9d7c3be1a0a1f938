import Synchronization
import TidemarkModel
import TidemarkWire

/// A listen stream that counts its changes.
final class Listener: Sendable {
    private struct State {
        var changes = 0
        var current = 0
        var status: RPCStatus?
        var waiter: (isReady: (State) -> Bool, continuation: CheckedContinuation<Void, any Error>)?
    }

    private final class Count: Sendable {
        let state = Mutex(State())

        func hear(_ event: StreamEvent<ListenResponse>) {
            let waiter = state.withLock { state in
                switch event {
                case .message(.documentChange): state.changes += 1
                case .message(.targetChange(let change)) where change.kind == .current:
                    state.current += 1
                case .message: return nil as CheckedContinuation<Void, any Error>?
                case .ended(let status): state.status = status
                }
                guard let waiter = state.waiter, state.status != nil || waiter.isReady(state)
                else { return nil }
                state.waiter = nil
                return waiter.continuation
            }
            guard let waiter else { return }
            if case .ended(let status) = event {
                waiter.resume(throwing: status)
            } else {
                waiter.resume()
            }
        }

        func wait(_ isReady: @escaping @Sendable (State) -> Bool) async throws {
            try await withCheckedThrowingContinuation { continuation in
                let status = state.withLock { state -> RPCStatus?? in
                    if let status = state.status { return .some(status) }
                    if isReady(state) { return .some(nil) }
                    state.waiter = (isReady, continuation)
                    return nil
                }
                switch status {
                case .some(let status?): continuation.resume(throwing: status)
                case .some(nil): continuation.resume()
                case nil: break
                }
            }
        }
    }

    private let count = Count()
    private let stream: any RequestStream<ListenRequest>

    /// Returns when all targets are current.
    init(_ steps: ServerSteps, _ queries: Query...) async throws {
        stream = steps.transport.listen(steps.context) { [count] in count.hear($0) }
        try await add(queries)
    }

    init(_ steps: ServerSteps, queries: [Query]) async throws {
        stream = steps.transport.listen(steps.context) { [count] in count.hear($0) }
        try await add(queries)
    }

    private func add(_ queries: [Query]) async throws {
        for start in stride(from: 0, to: queries.count, by: 500) {
            let end = min(start + 500, queries.count)
            for number in start..<end {
                stream.send(
                    .add(ListenTarget(id: Int32(number + 1), .query(queries[number])), labels: [:]))
            }
            try await count.wait { $0.current >= end }
        }
    }

    var changes: Int { count.state.withLock { $0.changes } }

    /// Returns when the stream has received this number of changes since its start.
    func waitForChanges(_ changes: Int) async throws {
        try await count.wait { $0.changes >= changes }
    }

    func stop() { stream.cancel() }
}
