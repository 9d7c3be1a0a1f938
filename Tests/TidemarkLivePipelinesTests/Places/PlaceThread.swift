import Synchronization
import Tidemark
import TidemarkServer
import TidemarkTesting

/// The one thread of a place, on which the server and the device run.
final class PlaceThread: Sendable {
    private struct State {
        var isInJob = false
        var runsAtOnce = false
    }

    let time = VirtualScheduler()
    private let state = Mutex(State())

    /// True while a call runs its jobs before it returns: the test waits for its result and cannot
    /// run them.
    var runsAtOnce: Bool {
        get { state.withLock { $0.runsAtOnce } }
        set { state.withLock { $0.runsAtOnce = newValue } }
    }

    func enqueue(_ job: @escaping @Sendable () -> Void) {
        time.enqueue { [self] in run(job) }
        let mustRun = state.withLock { $0.runsAtOnce && !$0.isInJob }
        if mustRun { time.runUntilIdle() }
    }

    /// Returns the replies of a server on this thread to a request that it must accept.
    func replies(
        of server: FirestoreServer, to request: Request, in database: DatabaseID
    ) -> [Reply] {
        let found = Mutex<[Reply]>([])
        _ = server.call(request, CallContext(database: database)) { event in
            switch event {
            case .message(let reply): found.withLock { $0.append(reply) }
            case .ended(let status): precondition(status.code == .ok, "\(status)")
            }
        }
        time.runUntilIdle()
        return found.withLock { $0 }
    }

    func run(_ job: () -> Void) {
        let wasInJob = state.withLock { state in
            defer { state.isInJob = true }
            return state.isInJob
        }
        job()
        state.withLock { $0.isInJob = wasInJob }
    }
}

/// Runs a server's jobs on the place's thread.
struct PlaceExecutor: ServerExecutor {
    let thread: PlaceThread
    var uptime: Duration { thread.time.elapsed }
    func after(_ delay: Duration, _ job: @escaping @Sendable () -> Void) {
        _ = thread.time.schedule(after: delay) { [thread] in thread.run(job) }
    }
    func async(_ job: @escaping @Sendable () -> Void) { thread.enqueue(job) }
    func sync(_ job: @Sendable () -> Void) {
        thread.time.runUntilIdle()
        thread.run(job)
    }
}

/// Runs an engine's jobs on the place's thread.
struct PlaceScheduler: EngineScheduler {
    let thread: PlaceThread
    var elapsed: Duration { thread.time.elapsed }
    func enqueue(_ job: @escaping @Sendable () -> Void) { thread.enqueue(job) }
    func schedule(
        _ id: TimerID, after delay: Duration, _ job: @escaping @Sendable () -> Void
    ) -> any CancellableCall {
        thread.time.schedule(id, after: delay) { [thread] in thread.run(job) }
    }
}
