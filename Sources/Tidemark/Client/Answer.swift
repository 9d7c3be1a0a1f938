import Synchronization

/// An answer that is taken once: from the engine, or because the task that waits was cancelled.
private final class Awaited<Success: Sendable>: Sendable {
    private struct State {
        var continuation: CheckedContinuation<Result<Success, FirestoreError>, Never>?
        var result: Result<Success, FirestoreError>?
    }

    private let state = Mutex(State())

    /// Nil before there is one.
    var result: Result<Success, FirestoreError>? { state.withLock(\.result) }

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

    func wait(
        isolation: isolated (any Actor)? = #isolation
    ) async -> Result<Success, FirestoreError> {
        await withCheckedContinuation { continuation in
            let early = state.withLock { state in
                if state.result == nil { state.continuation = continuation }
                return state.result
            }
            if let early { continuation.resume(returning: early) }
        }
    }
}

/// Waits for what `start` hands to its closure, once. What is there when `start` returns is returned
/// without a suspension. When the task is cancelled, it throws `cancelled` at once; what was started
/// goes on.
package func answer<Success: Sendable>(
    isolation: isolated (any Actor)? = #isolation,
    _ start: (_ finish: @escaping @Sendable (Result<Success, SyncError>) -> Void) -> Void
) async throws(FirestoreError) -> Success {
    let awaited = Awaited<Success>()
    start { awaited.finish($0.mapError(FirestoreError.init)) }
    // Whichever is first of an answer that is on its way and the handler below.
    if Task.isCancelled { throw .cancelled }
    if let result = awaited.result { return try result.get() }
    let result = await withTaskCancellationHandler {
        await awaited.wait()
    } onCancel: {
        awaited.finish(.failure(.cancelled))
    }
    return try result.get()
}

extension QueryValue {
    /// Whether the engine may read it on its caller's thread. An actor's is lent for a few rows only:
    /// it may be the main thread, which has a screen to draw.
    func mayRunHere(_ isolation: (any Actor)?) -> Bool {
        guard isolation != nil else { return true }
        return offset == 0 && limit.map { $0.count <= Self.mostRowsOnAnActor } ?? false
    }

    /// Some 2 µs each.
    private static var mostRowsOnAnActor: Int { 100 }
}
