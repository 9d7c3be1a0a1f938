import Synchronization

/// Suspends the task that reads a call's messages. HTTP/2's flow control then stops the server.
final class ReadingGate: Sendable {
    private struct State {
        var isClosed = false
        var waiting: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    func close() { state.withLock { $0.isClosed = true } }

    func open() {
        let waiting = state.withLock { state in
            state.isClosed = false
            return state.waiting.take()
        }
        waiting?.resume()
    }

    /// Waits while the gate is closed, unless the task is cancelled. Only one task may wait.
    func pass() async {
        guard state.withLock({ $0.isClosed }) else { return }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOpen = state.withLock { state in
                    if state.isClosed, !Task.isCancelled {
                        state.waiting = continuation
                        return false
                    }
                    return true
                }
                if isOpen { continuation.resume() }
            }
        } onCancel: {
            open()
        }
    }
}
