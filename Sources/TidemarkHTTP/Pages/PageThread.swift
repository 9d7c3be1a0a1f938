import Dispatch

/// Runs the requests of the control port on a separate thread.
///
/// A page can search and render for a long time. On the shared threads, as many pages as cores
/// would block all calls. On this thread, pages wait for each other and do not block calls.
final class PageThread: TaskExecutor {
    private let queue = DispatchQueue(label: "tidemark.pages", qos: .utility)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
