import Dispatch
import Synchronization
public import TidemarkModel

/// The engine's executor in an app: a serial dispatch queue, or a caller's thread while the queue
/// is idle.
///
/// Jobs run one at a time, in the order in which they were added. If no job is running or waiting,
/// a caller can run a job on its own thread (``runIfIdle(_:)``), which saves two thread switches.
public final class DispatchScheduler: EngineScheduler {
    private struct State {
        /// The waiting jobs, in order.
        var waiting: [@Sendable () -> Void] = []
        /// True if a thread runs a job, or if the queue was asked to run the waiting jobs. If
        /// false, no job waits.
        var isHeld = false
    }

    // The thread that sets `isHeld` runs jobs until it resets the flag. Both happen under this
    // lock, so each job sees the effects of the previous job, on whichever threads they run.
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
        // In 64 bits, because a watch's `Int` can hold only two seconds in nanoseconds.
        let nanoseconds = UInt64(max(0, seconds * 1_000_000_000 + attoseconds / 1_000_000_000))
        let time = DispatchTime(
            uptimeNanoseconds: DispatchTime.now().uptimeNanoseconds + nanoseconds)
        queue.asyncAfter(deadline: time) { [self] in
            // This code already runs on the queue.
            if hold(for: { delayed.run() }) { runWaiting() }
        }
        return delayed
    }

    public var elapsed: Duration { start.duration(to: .now) }

    /// Adds a job after the waiting ones.
    ///
    /// - Returns: True if the caller must ensure that the jobs run.
    private func hold(for job: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            state.waiting.append(job)
            defer { state.isHeld = true }
            return !state.isHeld
        }
    }

    /// Runs the currently waiting jobs. Jobs that they add run in the queue's next turn.
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

/// A job that runs once, or never if it is cancelled first. In both cases the closure is released
/// afterwards.
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
