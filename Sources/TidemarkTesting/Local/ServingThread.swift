import Dispatch

/// Runs tasks one after the other on a separate thread.
///
/// A server in the process of tests needs such a thread. Swift's default executor has only as many
/// threads as the machine has cores, and synchronous tests block them until they are done. If a
/// task on this thread awaits work on the default executor, it waits for those tests too.
package final class ServingThread: TaskExecutor {
    // A serial queue always gets a thread, even if all threads of the default executor are busy.
    private let queue: DispatchQueue

    /// - Parameter label: The name of the thread in a debugger.
    package init(_ label: String) { queue = DispatchQueue(label: label) }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
