import Synchronization

/// Wakes each waiter once after a change. If nobody waits, a ring only takes a lock.
final class TrafficBell: Sendable {
    private struct State {
        var next = 0
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var versions = Versions()
    }

    /// The numbers of changes.
    struct Versions: Hashable, Sendable {
        var traffic = 0
        var data = 0
    }

    private let state = Mutex(State())

    var versions: Versions { state.withLock { $0.versions } }

    func ring(_ change: (inout Versions) -> Void) {
        let woken = state.withLock { state in
            change(&state.versions)
            if state.waiting.isEmpty { return [CheckedContinuation<Void, Never>]() }
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for continuation in woken { continuation.resume() }
    }

    /// Returns after the versions differ from these, or when the task is cancelled.
    func changed(from known: Versions) async {
        let id = state.withLock { state in
            state.next += 1
            return state.next
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isDue = state.withLock { state in
                    if state.versions != known || Task.isCancelled { return true }
                    state.waiting[id] = continuation
                    return false
                }
                if isDue { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: id) }?.resume()
        }
    }
}
