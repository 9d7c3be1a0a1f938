import Synchronization
public import TidemarkModel
public import TidemarkSync

/// An engine's executor and clock that advance only when a test moves them.
///
/// The scheduler uses a single thread and never waits: ``runUntilIdle()`` runs the queued jobs,
/// ``advance(by:)`` lets time pass and fires the due timers, ``fire(_:)`` runs a timer early. The
/// same calls always give the same run.
///
/// ```swift
/// let scheduler = VirtualScheduler()
/// let environment = SyncEnvironment(
///     transport: transport, scheduler: scheduler, now: { scheduler.now }, random: { 0.5 })
/// ```
public final class VirtualScheduler: EngineScheduler {
    private struct Timer {
        /// The timer's name; nil if the timer does not belong to an engine.
        let id: TimerID?
        let due: Duration
        let order: Int
        let job: @Sendable () -> Void
    }

    private struct State {
        var jobs: [@Sendable () -> Void] = []
        var timers: [Timer] = []
        var elapsed = Duration.zero
        var nextOrder = 0
    }

    private let state = Mutex(State())
    private let start: Timestamp
    /// The maximum number of jobs without a pause. More jobs mean a loop without an end.
    private static let jobLimit = 10_000_000

    /// - Parameter start: The wall clock's reading at the beginning.
    public init(start: Timestamp = Timestamp(seconds: 1_700_000_000, nanoseconds: 0)) {
        self.start = start
    }

    /// The elapsed virtual time.
    public var elapsed: Duration { state.withLock { $0.elapsed } }
    /// The wall clock: the start plus the elapsed time.
    public var now: Timestamp { start.advanced(by: elapsed) }

    public func enqueue(_ job: @escaping @Sendable () -> Void) {
        state.withLock { $0.jobs.append(job) }
    }

    public func schedule(
        _ id: TimerID, after delay: Duration, _ job: @escaping @Sendable () -> Void
    ) -> any CancellableCall {
        schedule(named: id, after: delay, job)
    }

    /// Runs `job` once after `delay`. The timer has no name: ``advance(by:)`` fires it.
    public func schedule(
        after delay: Duration, _ job: @escaping @Sendable () -> Void
    ) -> any CancellableCall {
        schedule(named: nil, after: delay, job)
    }

    private func schedule(
        named id: TimerID?, after delay: Duration, _ job: @escaping @Sendable () -> Void
    ) -> any CancellableCall {
        let order = state.withLock { state in
            state.nextOrder += 1
            let due = state.elapsed + max(.zero, delay)
            state.timers.append(Timer(id: id, due: due, order: state.nextOrder, job: job))
            return state.nextOrder
        }
        return TimerHandle(scheduler: self, order: order)
    }

    /// Runs the queued jobs, and the jobs that they queue, until the queue is empty. No time passes
    /// and no timer fires.
    public func runUntilIdle() {
        var jobs: [@Sendable () -> Void] = []
        for _ in 0..<Self.jobLimit {
            // The arrays are exchanged, so the next job finds reserved capacity. Benchmarks use
            // this class too.
            state.withLock { swap(&$0.jobs, &jobs) }
            if jobs.isEmpty { return }
            for job in jobs { job() }
            jobs.removeAll(keepingCapacity: true)
        }
        fatalError("jobs queue jobs without an end")
    }

    /// Lets time pass. Timers fire in the order in which they are due. After each timer, the jobs
    /// that it queued run.
    public func advance(by duration: Duration) {
        precondition(duration >= .zero, "time does not go back")
        runUntilIdle()
        let end = elapsed + duration
        while let timer = takeTimer(where: { $0.due <= end }) {
            state.withLock { $0.elapsed = max($0.elapsed, timer.due) }
            timer.job()
            runUntilIdle()
        }
        state.withLock { $0.elapsed = end }
    }

    /// Immediately fires the timer with this name that is due first.
    ///
    /// - Returns: False when there is none.
    @discardableResult
    public func fire(_ id: TimerID) -> Bool {
        runUntilIdle()
        guard let timer = takeTimer(where: { $0.id == id }) else { return false }
        timer.job()
        runUntilIdle()
        return true
    }

    /// Fires every timer up to and including the first timer with this name, in the order in which
    /// they are due.
    public func fireAll(upTo id: TimerID) {
        runUntilIdle()
        guard pendingTimers.contains(id) else { return }
        while let timer = takeTimer(where: { _ in true }) {
            timer.job()
            runUntilIdle()
            if timer.id == id { return }
        }
    }

    /// The names of the waiting timers, in the order in which they are due.
    public var pendingTimers: [TimerID] {
        state.withLock { state in
            state.timers.sorted { ($0.due, $0.order) < ($1.due, $1.order) }.compactMap(\.id)
        }
    }

    /// Returns the time until the first timer with this name fires; nil if there is no such timer.
    public func delay(of id: TimerID) -> Duration? {
        state.withLock { state in
            state.timers.filter { $0.id == id }.map { $0.due - state.elapsed }.min()
        }
    }

    private func takeTimer(where condition: (Timer) -> Bool) -> Timer? {
        state.withLock { state in
            var first: Int?
            var (due, order) = (Duration.zero, 0)
            for (index, timer) in state.timers.enumerated() where condition(timer) {
                if first != nil, timer.due > due || timer.due == due && timer.order > order {
                    continue
                }
                (first, due, order) = (index, timer.due, timer.order)
            }
            return first.map { state.timers.remove(at: $0) }
        }
    }

    fileprivate func cancel(_ order: Int) {
        state.withLock { state in
            guard let index = state.timers.firstIndex(where: { $0.order == order }) else { return }
            state.timers.remove(at: index)
        }
    }
}

private final class TimerHandle: CancellableCall {
    private let scheduler: VirtualScheduler
    private let order: Int

    init(scheduler: VirtualScheduler, order: Int) {
        self.scheduler = scheduler
        self.order = order
    }

    func cancel() { scheduler.cancel(order) }
}
