import Dispatch
import Synchronization
import TidemarkModel
import TidemarkServer
import TidemarkSync

/// The time of a ``LocalFirestore`` and of its clients. Time passes only when a test moves the
/// clock, which then fires the due timers in order. A job without a delay needs no time.
final class LocalClock: Sendable {
    private struct Timer: Sendable {
        let due: Duration
        let order: Int
        let queue: LocalQueue
        let job: @Sendable () -> Void
    }

    private struct State {
        var now: Timestamp
        var elapsed = Duration.zero
        var timers: [Timer] = []
        var lastOrder = 0

        mutating func pass(until end: Duration) {
            guard end > elapsed else { return }
            now = now.advanced(by: end - elapsed)
            elapsed = end
        }
    }

    private let state: Mutex<State>

    init(now: Timestamp) { state = Mutex(State(now: now)) }

    /// The time that wall clocks show.
    var now: Timestamp { state.withLock { $0.now } }
    /// The elapsed time. It never decreases, even if ``set(_:)`` sets an earlier time.
    var elapsed: Duration { state.withLock { $0.elapsed } }

    func schedule(
        after delay: Duration, on queue: LocalQueue, _ job: @escaping @Sendable () -> Void
    ) -> LocalTimer {
        let order = state.withLock { state in
            state.lastOrder += 1
            state.timers.append(
                Timer(
                    due: state.elapsed + max(.zero, delay), order: state.lastOrder, queue: queue,
                    job: job))
            return state.lastOrder
        }
        if delay <= .zero { queue.async { [self] in take(order)?.job() } }
        return LocalTimer(clock: self, order: order)
    }

    private func take(_ order: Int) -> Timer? {
        state.withLock { state in
            state.timers.firstIndex { $0.order == order }.map { state.timers.remove(at: $0) }
        }
    }

    /// Lets time pass. The job of each timer is finished before the next timer fires.
    func advance(by duration: Duration) {
        precondition(duration >= .zero, "time does not go back: set the clock")
        let end = elapsed + duration
        while let timer = takeTimer(dueBy: end) { timer.queue.sync(timer.job) }
        state.withLock { $0.pass(until: end) }
    }

    /// Sets the wall clock to `time`; if that is later, time passes until then.
    func set(_ time: Timestamp) {
        let distance = time.duration(since: now)
        if distance > .zero { advance(by: distance) }
        state.withLock { $0.now = time }
    }

    fileprivate func cancel(_ order: Int) {
        state.withLock { $0.timers.removeAll { $0.order == order } }
    }

    private func takeTimer(dueBy end: Duration) -> Timer? {
        state.withLock { state -> Timer? in
            let due = state.timers.indices.filter { state.timers[$0].due <= end }
            guard
                let first = due.min(by: {
                    (state.timers[$0].due, state.timers[$0].order)
                        < (state.timers[$1].due, state.timers[$1].order)
                })
            else { return nil }
            let timer = state.timers.remove(at: first)
            state.pass(until: timer.due)
            return timer
        }
    }
}

final class LocalTimer: CancellableCall {
    private let clock: LocalClock
    private let order: Int

    init(clock: LocalClock, order: Int) {
        self.clock = clock
        self.order = order
    }

    func cancel() { clock.cancel(order) }
}

/// A serial queue in the time of a ``LocalClock``: the executor of a server or of a client.
final class LocalQueue: ServerExecutor, EngineScheduler {
    private let clock: LocalClock
    private let queue: DispatchQueue
    private let isInside = DispatchSpecificKey<Bool>()

    init(_ label: String, clock: LocalClock) {
        self.clock = clock
        queue = DispatchQueue(label: label)
        queue.setSpecific(key: isInside, value: true)
    }

    func async(_ job: @escaping @Sendable () -> Void) { queue.async(execute: job) }

    func sync(_ job: @Sendable () -> Void) {
        if DispatchQueue.getSpecific(key: isInside) == true {
            job()
        } else {
            queue.sync(execute: job)
        }
    }

    /// Returns false, because jobs run only in the clock's time.
    func runIfIdle(_ job: () -> Void) -> Bool { false }

    var uptime: Duration { clock.elapsed }

    func after(_ delay: Duration, _ job: @escaping @Sendable () -> Void) {
        _ = clock.schedule(after: delay, on: self, job)
    }

    func enqueue(_ job: @escaping @Sendable () -> Void) { queue.async(execute: job) }

    func schedule(
        _ id: TimerID, after delay: Duration, _ job: @escaping @Sendable () -> Void
    ) -> any CancellableCall { clock.schedule(after: delay, on: self, job) }

    var elapsed: Duration { clock.elapsed }
}
