import Dispatch

/// Runs tasks one after the other on a thread of its own.
///
/// A server in the process of tests runs on one: Swift's default executor has as many threads as the
/// machine has cores, and synchronous tests hold them until they are done. What a task on this thread
/// awaits of the default executor waits for those tests too.
package final class ServingThread: TaskExecutor {
    // A serial queue always gets a thread, however many of the default executor's are busy.
    private let queue: DispatchQueue

    /// - Parameter label: Names the thread for a debugger.
    package init(_ label: String) { queue = DispatchQueue(label: label) }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
