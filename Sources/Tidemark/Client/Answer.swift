import Synchronization

/// An answer that is taken once: the engine's result, or the cancellation of the waiting task.
private final class Awaited<Success: Sendable>: Sendable {
    private struct State {
        var continuation: CheckedContinuation<Result<Success, FirestoreError>, Never>?
        var result: Result<Success, FirestoreError>?
    }

    private let state = Mutex(State())

    /// The answer; nil until it exists.
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

/// Waits for the value that `start` passes to its closure, once. If the value exists when `start`
/// returns, the function does not suspend. If the task is cancelled, the function throws
/// `cancelled` immediately; the started operation continues.
package func answer<Success: Sendable>(
    isolation: isolated (any Actor)? = #isolation,
    _ start: (_ finish: @escaping @Sendable (Result<Success, SyncError>) -> Void) -> Void
) async throws(FirestoreError) -> Success {
    let awaited = Awaited<Success>()
    start { awaited.finish($0.mapError(FirestoreError.init)) }
    // The first result counts: a pending answer, or the cancellation handler below.
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
    /// Returns true if the engine can run the query on its caller's thread. For a caller on an
    /// actor, that is only true for a few rows: the thread can be the main thread, which has a
    /// screen to draw.
    func mayRunHere(_ isolation: (any Actor)?) -> Bool {
        guard isolation != nil else { return true }
        return offset == 0 && limit.map { $0.count <= Self.mostRowsOnAnActor } ?? false
    }

    /// The limit of rows for a read on an actor's thread. A row takes about 2 µs.
    private static var mostRowsOnAnActor: Int { 100 }
}
