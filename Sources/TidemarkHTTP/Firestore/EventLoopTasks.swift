import NIOCore

/// Runs tasks on a channel's event loop.
///
/// A single thread reads, answers and writes a short call over HTTP. The default executor would
/// wake a second thread for each request.
final class EventLoopTasks: TaskExecutor {
    private let loop: any EventLoop

    init(_ loop: any EventLoop) { self.loop = loop }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
