import Synchronization

/// An answer that is taken once: from the engine, or because the task that waits was cancelled.
private final class Awaited<Success: Sendable>: Sendable {
    private struct State {
        var continuation: CheckedContinuation<Result<Success, FirestoreError>, Never>?
        var result: Result<Success, FirestoreError>?
    }

    private let state = Mutex(State())

    func finish(_ result: Result<Success, FirestoreError>) {
        let waiting = state.withLock { state in
            guard state.result == nil else {
                return nil as CheckedContinuation<Result<Success, FirestoreError>, Never>?
            }
            state.result = result
            return state.continuation.take()
        }
        waiting?.resume(returning: result)
    }

    func wait() async -> Result<Success, FirestoreError> {
        await withCheckedContinuation { continuation in
            let early = state.withLock { state in
                if state.result == nil { state.continuation = continuation }
                return state.result
            }
            if let early { continuation.resume(returning: early) }
        }
    }
}

/// Waits for what `start` hands to its closure, once. When the task is cancelled, it throws
/// `cancelled` at once; what was started goes on.
package func answer<Success: Sendable>(
    isolation: isolated (any Actor)? = #isolation,
    _ start: (_ finish: @escaping @Sendable (Result<Success, SyncError>) -> Void) -> Void
) async throws(FirestoreError) -> Success {
    let awaited = Awaited<Success>()
    start { awaited.finish($0.mapError(FirestoreError.init)) }
    let result = await withTaskCancellationHandler {
        await awaited.wait()
    } onCancel: {
        awaited.finish(.failure(.cancelled))
    }
    return try result.get()
}
