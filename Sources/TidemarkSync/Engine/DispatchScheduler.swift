import Dispatch
import Synchronization
public import TidemarkModel

/// The engine's executor in an app: one serial dispatch queue.
public final class DispatchScheduler: EngineScheduler {
    private let queue: DispatchQueue
    private let start = ContinuousClock.now

    public init(label: String = "tidemark.engine") {
        queue = DispatchQueue(label: label, qos: .userInitiated)
    }

    public func enqueue(_ job: @escaping @Sendable () -> Void) { queue.async(execute: job) }

    public func schedule(
        _ id: TimerID, after delay: Duration, _ job: @escaping @Sendable () -> Void
    ) -> any CancellableCall {
        let delayed = DelayedJob(job)
        let (seconds, attoseconds) = delay.components
        let nanoseconds = max(0, Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000))
        queue.asyncAfter(deadline: .now() + .nanoseconds(nanoseconds)) { delayed.run() }
        return delayed
    }

    public var elapsed: Duration { start.duration(to: .now) }
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
