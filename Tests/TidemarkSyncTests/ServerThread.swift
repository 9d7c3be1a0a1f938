import TidemarkServer
import TidemarkSync
import TidemarkTesting

/// Runs a server's jobs on the client's scheduler, when the test lets the scheduler run.
struct ServerThread: ServerExecutor {
    let time: VirtualScheduler
    var uptime: Duration { time.elapsed }
    func after(_ delay: Duration, _ job: @escaping @Sendable () -> Void) {
        // The timers' names belong to the client. The choice of name has no effect here.
        _ = time.schedule(.storageRetry, after: delay, job)
    }
    func async(_ job: @escaping @Sendable () -> Void) { time.enqueue(job) }
    func sync(_ job: @Sendable () -> Void) {
        time.runUntilIdle()
        job()
    }
}
