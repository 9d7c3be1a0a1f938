import NIOCore

/// Runs tasks on a channel's event loop.
///
/// A short call over HTTP is read, answered and written by one thread. On the default executor, it wakes a
/// second one for each request.
final class EventLoopTasks: TaskExecutor {
    private let loop: any EventLoop

    init(_ loop: any EventLoop) { self.loop = loop }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
