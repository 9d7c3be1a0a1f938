import Synchronization
import Tidemark
public import TidemarkResilience

extension TidemarkStack {
    /// The state of the network by the stack's signals, for calls that are not Firestore's. The
    /// feeds and the jobs of the stack need no such argument.
    ///
    /// ```swift
    /// let retry = Retry(.mobile, connectivity: stack.connectivity)
    /// let pipeline = try ImagePipeline(
    ///     folder: folder, environment: ImageEnvironment(connectivity: stack.connectivity))
    /// ```
    ///
    /// A call waits, instead of failing, while there is no network. Without signals the network
    /// counts as available. The value does not retain the stack; after the stack's end the network
    /// counts as available too.
    public var connectivity: Connectivity {
        let path = path
        return Connectivity(
            isOnline: { path.isOnline }, untilOnline: { try await path.untilOnline() })
    }
}

/// True while there is a network, and the callers that wait for one.
final class StackPath: Sendable {
    private struct State {
        var isOnline = true
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var last = 0
    }

    private let state = Mutex(State())

    var isOnline: Bool { state.withLock(\.isOnline) }

    func set(isOnline: Bool) {
        let waiting = state.withLock { state in
            state.isOnline = isOnline
            guard isOnline else { return [CheckedContinuation<Void, Never>]() }
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for waiter in waiting { waiter.resume() }
    }

    /// Returns when there is a network.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    func untilOnline() async throws {
        let number = state.withLock { state in
            state.last += 1
            return state.last
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if state.isOnline || Task.isCancelled { return true }
                    state.waiting[number] = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: number) }?.resume()
        }
        try Task.checkCancellation()
    }
}
