import Synchronization

/// A clock whose time passes only when it is told: a wait of eight seconds takes none of a person's, and
/// is eight seconds on it.
final class DemoClock: Clock, Sendable {
    struct Instant: InstantProtocol {
        /// Since the clock began.
        let offset: Duration

        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private struct Sleeper {
        let end: Instant
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var now = Instant(offset: .zero)
        var sleepers: [Int: Sleeper] = [:]
        var cancelled: Set<Int> = []
        var lastID = 0
    }

    private let state = Mutex(State())

    var now: Instant { state.withLock(\.now) }
    var minimumResolution: Duration { .nanoseconds(1) }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isOver: Result<Void, any Error>? = state.withLock { state in
                    if state.cancelled.remove(id) != nil { return .failure(CancellationError()) }
                    if deadline <= state.now { return .success(()) }
                    state.sleepers[id] = Sleeper(end: deadline, continuation: continuation)
                    return nil
                }
                if let isOver { continuation.resume(with: isOver) }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                let sleeper = state.sleepers.removeValue(forKey: id)
                if sleeper == nil { state.cancelled.insert(id) }
                return sleeper
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
        state.withLock { _ = $0.cancelled.remove(id) }
    }

    /// Lets the time pass until the end of the earliest wait.
    ///
    /// - Returns: Whether anybody waits.
    func pass() -> Bool {
        let sleeper = state.withLock { state -> Sleeper? in
            guard let next = state.sleepers.min(by: { $0.value.end < $1.value.end }) else {
                return nil
            }
            state.now = max(state.now, next.value.end)
            return state.sleepers.removeValue(forKey: next.key)
        }
        sleeper?.continuation.resume()
        return sleeper != nil
    }
}
