import Synchronization

/// A clock that stands still until a test moves it, and says who sleeps on it: for what takes a
/// `Clock`, such as a ticker, a search or a retry. Thread-safe.
public final class ManualClock: Clock {
    public struct Instant: InstantProtocol {
        /// Since the clock was made.
        public var time = Duration.zero

        public init() {}

        public func advanced(by duration: Duration) -> Instant {
            var later = self
            later.time += duration
            return later
        }

        public func duration(to other: Instant) -> Duration { other.time - time }
        public static func < (left: Instant, right: Instant) -> Bool { left.time < right.time }
    }

    private struct State {
        var now = Instant()
        var lastID = 0
        var sleepers: [Int: (until: Instant, wake: CheckedContinuation<Void, any Error>)] = [:]
        var watchers: [(count: Int, wake: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())

    public init() {}

    public var now: Instant { state.withLock { $0.now } }
    public var minimumResolution: Duration { .nanoseconds(1) }

    /// - Throws: `CancellationError` when the task is cancelled.
    public func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let watchers = state.withLock { state -> [CheckedContinuation<Void, Never>]? in
                    if Task.isCancelled || deadline <= state.now { return nil }
                    state.sleepers[id] = (deadline, continuation)
                    let count = state.sleepers.count
                    let woken = state.watchers.filter { $0.count <= count }.map(\.wake)
                    state.watchers.removeAll { $0.count <= count }
                    return woken
                }
                guard let watchers else {
                    let wasCancelled = Task.isCancelled
                    return continuation.resume(
                        with: wasCancelled ? .failure(CancellationError()) : .success(()))
                }
                for watcher in watchers { watcher.resume() }
            }
        } onCancel: {
            let sleeper = state.withLock { $0.sleepers.removeValue(forKey: id) }
            sleeper?.wake.resume(throwing: CancellationError())
        }
    }

    /// How many tasks sleep.
    public var count: Int { state.withLock { $0.sleepers.count } }

    /// Returns once so many tasks sleep.
    public func sleepers(_ count: Int = 1) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.sleepers.count >= count { return true }
                state.watchers.append((count, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    /// Lets time pass, and wakes whom it is for, in the order of their times.
    public func advance(by duration: Duration) {
        let due = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            let due = state.sleepers.filter { $0.value.until <= state.now }
            for id in due.keys { state.sleepers[id] = nil }
            return due.sorted { $0.value.until < $1.value.until }.map(\.value.wake)
        }
        for sleeper in due { sleeper.resume() }
    }
}
