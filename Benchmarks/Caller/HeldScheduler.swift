import Synchronization
import Tidemark

/// The engine's own scheduler, which also measures its longest job.
final class HeldScheduler: EngineScheduler {
    private let base = DispatchScheduler()
    private let held = Mutex(Duration.zero)

    var longest: Duration { held.withLock { $0 } }
    var elapsed: Duration { base.elapsed }

    func enqueue(_ job: @escaping @Sendable () -> Void) {
        base.enqueue { self.measure(job) }
    }

    func schedule(
        _ id: TimerID, after delay: Duration, _ job: @escaping @Sendable () -> Void
    ) -> any CancellableCall {
        base.schedule(id, after: delay) { self.measure(job) }
    }

    private func measure(_ job: () -> Void) {
        let taken = ContinuousClock().measure(job)
        held.withLock { $0 = max($0, taken) }
    }
}
