import Dispatch

/// Runs what the control port does, on one thread of its own.
///
/// A page may search and render for long. On the threads that calls share, as many pages at once as there
/// are cores would keep every call waiting; here pages wait for each other, and calls for none of them.
final class PageThread: TaskExecutor {
    private let queue = DispatchQueue(label: "tidemark.pages", qos: .utility)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
