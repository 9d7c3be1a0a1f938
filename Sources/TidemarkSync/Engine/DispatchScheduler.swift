import Dispatch
import Synchronization
public import TidemarkModel

/// The engine's executor in an app: a serial dispatch queue, or a caller's thread while that is idle.
///
/// Jobs run one at a time, in the order they came. Who finds nothing running and nothing waiting may
/// run a job on the calling thread instead (``runIfIdle(_:)``), which saves two changes of thread.
public final class DispatchScheduler: EngineScheduler {
    private struct State {
        /// In the order they came.
        var waiting: [@Sendable () -> Void] = []
        /// Whether somebody runs a job, or the queue has been told to run those that wait. Where
        /// nobody does, none waits.
        var isHeld = false
    }

    // Whoever sets `isHeld` runs jobs until it is reset. Both happen under this lock, so that each
    // job sees what the one before it wrote, whichever threads they ran on.
    private let state = Mutex(State())
    private let queue: DispatchQueue
    private let start = ContinuousClock.now

    public init(label: String = "tidemark.engine") {
        queue = DispatchQueue(label: label, qos: .userInitiated)
    }

    public func enqueue(_ job: @escaping @Sendable () -> Void) {
        if hold(for: job) { queue.async { [self] in runWaiting() } }
    }

    public func runIfIdle(_ job: () -> Void) -> Bool {
        let isHeldHere = state.withLock { state in
            if state.isHeld { return false }
            state.isHeld = true
            return true
        }
        guard isHeldHere else { return false }
        job()
        release()
        return true
    }

    public func schedule(
        _ id: TimerID, after delay: Duration, _ job: @escaping @Sendable () -> Void
    ) -> any CancellableCall {
        let delayed = DelayedJob(job)
        let (seconds, attoseconds) = delay.components
        // In 64 bits: an `Int` of a watch holds two seconds of nanoseconds.
        let nanoseconds = UInt64(max(0, seconds * 1_000_000_000 + attoseconds / 1_000_000_000))
        let time = DispatchTime(
            uptimeNanoseconds: DispatchTime.now().uptimeNanoseconds + nanoseconds)
        queue.asyncAfter(deadline: time) { [self] in
            // It is on the queue already.
            if hold(for: { delayed.run() }) { runWaiting() }
        }
        return delayed
    }

    public var elapsed: Duration { start.duration(to: .now) }

    /// Puts a job behind those that wait.
    ///
    /// - Returns: Whether the caller now has to see to it that they are run.
    private func hold(for job: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            state.waiting.append(job)
            defer { state.isHeld = true }
            return !state.isHeld
        }
    }

    /// Runs the jobs that wait now. Those that they add are the queue's next turn.
    private func runWaiting() {
        var jobs: [@Sendable () -> Void] = []
        state.withLock { swap(&$0.waiting, &jobs) }
        for job in jobs { job() }
        release()
    }

    private func release() {
        let hasMore = state.withLock { state in
            state.isHeld = !state.waiting.isEmpty
            return state.isHeld
        }
        if hasMore { queue.async { [self] in runWaiting() } }
    }
}

/// A job that runs once or, when cancelled first, never; either way it then lets go of its closure.
final class DelayedJob: CancellableCall {
    private let job: Mutex<(@Sendable () -> Void)?>

    init(_ job: @escaping @Sendable () -> Void) { self.job = Mutex(job) }

    func run() { take()?() }
    func cancel() { _ = take() }

    private func take() -> (@Sendable () -> Void)? {
        job.withLock { job in
            defer { job = nil }
            return job
        }
    }
}
