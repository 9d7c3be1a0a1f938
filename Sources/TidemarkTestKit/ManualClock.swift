import Synchronization

/// A clock whose time passes only when a test advances it. A test can also wait until tasks sleep
/// on it. Use it for code that takes a `Clock`, such as a ticker, a search or a retry. Thread-safe.
public final class ManualClock: Clock {
    public struct Instant: InstantProtocol {
        /// The time since the clock was created.
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
        var watchers: [Watcher] = []

        /// Removes and returns the watchers whose condition is true.
        mutating func satisfiedWatchers() -> [Watcher] {
            var satisfied: [Watcher] = []
            var others: [Watcher] = []
            for watcher in watchers {
                if watcher.isSatisfied(by: self) {
                    satisfied.append(watcher)
                } else {
                    others.append(watcher)
                }
            }
            watchers = others
            return satisfied
        }
    }

    private struct Watcher {
        let id: Int
        let isAwaited: @Sendable (_ until: Instant) -> Bool
        let count: Int
        let wake: CheckedContinuation<Void, Never>

        func isSatisfied(by state: State) -> Bool {
            state.sleepers.values.count { isAwaited($0.until) } >= count
        }
    }

    private let state = Mutex(State())

    public init() {}

    public var now: Instant { state.withLock { $0.now } }
    public var minimumResolution: Duration { .nanoseconds(1) }

    /// - Throws: `CancellationError` if the task is cancelled.
    public func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let watchers = state.withLock { state -> [Watcher]? in
                    if Task.isCancelled || deadline <= state.now { return nil }
                    state.sleepers[id] = (deadline, continuation)
                    return state.satisfiedWatchers()
                }
                guard let watchers else {
                    let wasCancelled = Task.isCancelled
                    return continuation.resume(
                        with: wasCancelled ? .failure(CancellationError()) : .success(()))
                }
                for watcher in watchers { watcher.wake.resume() }
            }
        } onCancel: {
            let sleeper = state.withLock { $0.sleepers.removeValue(forKey: id) }
            sleeper?.wake.resume(throwing: CancellationError())
        }
    }

    /// The number of sleeping tasks.
    public var count: Int { state.withLock { $0.sleepers.count } }

    /// Returns when `count` tasks sleep, for any time. Returns immediately if the calling task is
    /// cancelled, for example by the time limit of a test.
    public func sleepers(_ count: Int = 1) async { await sleepers(count) { _ in true } }

    /// Returns when a task sleeps that is not due in exactly `duration`. Use it to wait for the
    /// pause between attempts if each attempt has a timeout of that length.
    public func sleeper(notDueIn duration: Duration) async {
        let due = now.advanced(by: duration)
        await sleepers(1) { $0 != due }
    }

    /// Waits until a task sleeps that is due in exactly `duration`, and lets that much time pass.
    ///
    /// Use it if other tasks can sleep too. For example, an attempt and its timeout can start to
    /// sleep in any order. If time passed before the right task sleeps, that task would sleep for
    /// too long.
    public func pass(_ duration: Duration) async {
        let due = now.advanced(by: duration)
        await sleepers(1) { $0 == due }
        advance(by: duration)
    }

    private func sleepers(
        _ count: Int, where isAwaited: @escaping @Sendable (_ until: Instant) -> Bool
    ) async {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let satisfied = state.withLock { state in
                    let watcher = Watcher(
                        id: id, isAwaited: isAwaited, count: count, wake: continuation)
                    if Task.isCancelled { return [watcher] }
                    state.watchers.append(watcher)
                    return state.satisfiedWatchers()
                }
                for watcher in satisfied { watcher.wake.resume() }
            }
        } onCancel: {
            let watcher = state.withLock { state in
                state.watchers.firstIndex { $0.id == id }.map { state.watchers.remove(at: $0) }
            }
            watcher?.wake.resume()
        }
    }

    /// Lets time pass until the earliest sleeping task is due.
    ///
    /// - Returns: False if no task sleeps.
    public func advanceToNext() -> Bool {
        let next = state.withLock { state in
            state.sleepers.values.map(\.until).min().map { state.now.duration(to: $0) }
        }
        guard let next else { return false }
        advance(by: max(.zero, next))
        return true
    }

    /// Lets time pass, and wakes the tasks that are due, in the order of their times.
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
