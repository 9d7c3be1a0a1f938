import Dispatch
import Synchronization
import TidemarkModel

extension FaultEnvironment {
    /// Creates an environment with the machine's time and random numbers, and timers on a separate
    /// queue.
    public static func live() -> FaultEnvironment {
        let queue = DispatchQueue(label: "tidemark.faults")
        let start = ContinuousClock.now
        return FaultEnvironment(
            elapsed: { start.duration(to: .now) },
            schedule: { delay, job in
                let delayed = DelayedFault(job)
                let (seconds, attoseconds) = delay.components
                let nanoseconds = Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
                // The delay is rounded up: a timer that fires early would find nothing due.
                queue.asyncAfter(deadline: .now() + .nanoseconds(max(0, nanoseconds + 1))) {
                    delayed.take()?()
                }
                return delayed
            },
            random: { .random(in: 0..<1) })
    }
}

/// A job that runs once, or never if it is cancelled first.
private final class DelayedFault: CancellableCall {
    private let job: Mutex<(@Sendable () -> Void)?>

    init(_ job: @escaping @Sendable () -> Void) { self.job = Mutex(job) }

    func cancel() { _ = take() }

    func take() -> (@Sendable () -> Void)? {
        job.withLock { job in
            defer { job = nil }
            return job
        }
    }
}
