import Synchronization

/// Time limits on one clock, which share a sleep.
///
/// A cancelled `Task.sleep` leaves its timer in the system. A limit with a separate sleep wakes the
/// process long after its operation has ended; here at most the first of many limits does so. The
/// number of limits is the number of running operations.
package final class TimeLimits<C: Clock>: Sendable where C.Duration == Duration {
    private struct State {
        var limits: [Int: (end: C.Instant, expire: @Sendable () -> Void)] = [:]
        var last = 0
        /// The end of the sleep that is followed by another one; nil if nothing needs a sleep.
        var wake: C.Instant?
    }

    private let clock: C
    private let executor: (any TaskExecutor)?
    private let state = Mutex(State())

    /// - Parameter executor: Runs the sleeps and `expire`; nil for Swift's default executor.
    package init(_ clock: C, executor: (any TaskExecutor)? = nil) {
        self.clock = clock
        self.executor = executor
    }

    /// Calls `expire` after `time`, once, unless the limit is ended before.
    ///
    /// - Returns: The number for ``end(_:)``.
    package func begin(_ time: Duration, _ expire: @escaping @Sendable () -> Void) -> Int {
        let end = clock.now.advanced(by: time)
        return state.withLock { state in
            state.last += 1
            state.limits[state.last] = (end, expire)
            if state.wake.map({ end < $0 }) ?? true { sleep(until: end, &state) }
            return state.last
        }
    }

    /// The number of limits that have not ended.
    package var count: Int { state.withLock { $0.limits.count } }

    package func end(_ number: Int) { state.withLock { _ = $0.limits.removeValue(forKey: number) } }

    /// Begins a sleep. An earlier sleep with a later end stays, and changes nothing at its end.
    private func sleep(until end: C.Instant, _ state: inout State) {
        state.wake = end
        Task.detached(executorPreference: executor, priority: .userInitiated) { [self] in
            try? await clock.sleep(until: end, tolerance: nil)
            awake(at: end)
        }
    }

    private func awake(at end: C.Instant) {
        let expired = state.withLock { state in
            guard state.wake == end else { return [@Sendable () -> Void]() }
            let now = max(end, clock.now)
            let over = state.limits.filter { $0.value.end <= now }
            for number in over.keys { state.limits.removeValue(forKey: number) }
            state.wake = nil
            if let next = state.limits.values.map(\.end).min() { sleep(until: next, &state) }
            return over.values.map(\.expire)
        }
        for expire in expired { expire() }
    }
}

/// The limits on the system's clock.
package let systemLimits = TimeLimits(ContinuousClock())
