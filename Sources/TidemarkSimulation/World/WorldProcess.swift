package import TidemarkModel
import TidemarkServer
package import TidemarkSync
package import TidemarkTesting

/// A process in a world. When it is killed, its queued jobs and timers disappear, and the effects
/// of the step that killed it reach no other process.
// @unchecked: a world uses only one thread.
package final class WorldProcess: EngineScheduler, ServerExecutor, @unchecked Sendable {
    private let time: VirtualScheduler
    private var jobs: [Int: @Sendable () -> Void] = [:]
    private var lastJob = 0
    package private(set) var isAlive = true
    /// The delay until the process learns the result of work on another thread; nil within a step
    /// of the process.
    private var lateness: Duration?

    package init(on time: VirtualScheduler) { self.time = time }

    package func kill() {
        isAlive = false
        jobs = [:]
    }

    // MARK: As a client's executor

    package func enqueue(_ job: @escaping @Sendable () -> Void) {
        guard let id = keep(job) else { return }
        if let lateness {
            _ = time.schedule(after: lateness) { [weak self] in self?.take(id)?() }
            return
        }
        time.enqueue { [weak self] in self?.take(id)?() }
    }

    package func schedule(
        _ name: TimerID, after delay: Duration, _ job: @escaping @Sendable () -> Void
    ) -> any CancellableCall {
        let id = keep(job) ?? 0
        let timer = time.schedule(name, after: delay) { [weak self] in self?.take(id)?() }
        return ProcessTimer(process: self, id: id, timer: timer)
    }

    /// Runs a job of another thread now. The process learns of its result after `delay`.
    func offload(_ job: () -> Void, heardAfter delay: Duration) {
        lateness = delay
        job()
        lateness = nil
    }

    package var elapsed: Duration { time.elapsed }

    /// Always false, because jobs are steps of the world.
    package func runIfIdle(_ job: () -> Void) -> Bool { false }

    private func keep(_ job: @escaping @Sendable () -> Void) -> Int? {
        guard isAlive else { return nil }
        lastJob += 1
        jobs[lastJob] = job
        return lastJob
    }

    fileprivate func take(_ id: Int) -> (@Sendable () -> Void)? { jobs.removeValue(forKey: id) }

    // MARK: As a server's executor

    package var uptime: Duration { time.elapsed }

    package func after(_ delay: Duration, _ job: @escaping @Sendable () -> Void) {
        guard let id = keep(job) else { return }
        _ = time.schedule(after: delay) { [weak self] in self?.take(id)?() }
    }

    package func async(_ job: @escaping @Sendable () -> Void) { enqueue(job) }

    /// Runs the job immediately: no other job of the process can be running when it is called from
    /// outside.
    package func sync(_ job: @Sendable () -> Void) { job() }
}

// @unchecked: a world uses only one thread.
private final class ProcessTimer: CancellableCall, @unchecked Sendable {
    private weak var process: WorldProcess?
    private let id: Int
    private let timer: any CancellableCall

    init(process: WorldProcess, id: Int, timer: any CancellableCall) {
        self.process = process
        self.id = id
        self.timer = timer
    }

    func cancel() {
        timer.cancel()
        _ = process?.take(id)
    }
}
