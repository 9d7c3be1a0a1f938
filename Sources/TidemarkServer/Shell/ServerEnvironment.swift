import Dispatch
import Foundation
import Synchronization
package import TidemarkModel

/// The inputs that the server takes from outside: the time, random numbers, and the executor of its
/// work.
package struct ServerEnvironment: Sendable {
    /// Returns the machine's time. It can jump and go back; commit times do not.
    package var now: @Sendable () -> Timestamp
    /// Returns 64 random bits, for document and transaction ids.
    package var randomBits: @Sendable () -> UInt64
    package var executor: any ServerExecutor
    /// Returns the time since any fixed moment, by a clock that never goes back; it measures
    /// durations.
    package var ticks: @Sendable () -> Duration = { .zero }
    /// Takes a line for the server's operator.
    package var log: @Sendable (String) -> Void = { _ in }
    /// Adds indexes to the file at a path.
    package var addIndexes: @Sendable ([MissingIndex], String) throws(IndexFileError) -> Void =
        IndexFile.add

    package init(
        now: @escaping @Sendable () -> Timestamp, randomBits: @escaping @Sendable () -> UInt64,
        executor: any ServerExecutor
    ) {
        self.now = now
        self.randomBits = randomBits
        self.executor = executor
    }

    /// Creates an environment with the machine's clock and random numbers, and a separate queue.
    package static func live() -> ServerEnvironment {
        let beginning = ContinuousClock.now
        var environment = ServerEnvironment(
            now: { Timestamp(microseconds: Int64(Date().timeIntervalSince1970 * 1_000_000)) },
            randomBits: { .random(in: .min ... .max) }, executor: QueueExecutor())
        environment.ticks = { ContinuousClock.now - beginning }
        environment.log = { FileHandle.standardError.write(Data("\($0)\n".utf8)) }
        return environment
    }
}

/// Runs the server's work, one job at a time and in order.
package protocol ServerExecutor: Sendable {
    /// The time for which the executor has run, as its timers count it: it never goes back.
    var uptime: Duration { get }
    /// Runs `job` after the earlier jobs, once `delay` has passed.
    func after(_ delay: Duration, _ job: @escaping @Sendable () -> Void)
    /// Runs `job` after all earlier jobs, never during this call.
    func async(_ job: @escaping @Sendable () -> Void)
    /// Runs `job` after all earlier jobs, and returns when it is done; runs it immediately if the
    /// caller is a job of the executor.
    func sync(_ job: @Sendable () -> Void)
    /// Runs `job` on the calling thread as the executor's next job, if no job runs or waits.
    ///
    /// - Returns: True if the job has run.
    func runIfIdle(_ job: () -> Void) -> Bool
}

extension ServerExecutor {
    /// Returns false: this executor runs jobs only on its own threads.
    package func runIfIdle(_ job: () -> Void) -> Bool { false }
}

/// A serial queue of Dispatch.
final class QueueExecutor: ServerExecutor {
    private let queue = DispatchQueue(label: "tidemark.server")
    private let isInside = DispatchSpecificKey<Bool>()
    /// The number of jobs that wait or run. A timer's job counts only while it runs.
    private let jobs = Atomic(0)

    init() { queue.setSpecific(key: isInside, value: true) }

    var uptime: Duration { .nanoseconds(Int64(clamping: DispatchTime.now().uptimeNanoseconds)) }

    func after(_ delay: Duration, _ job: @escaping @Sendable () -> Void) {
        let (seconds, attoseconds) = delay.components
        // The delay is rounded up, so work that was due at the request is due when the job runs.
        let microseconds = attoseconds / 1_000_000_000_000 + 1
        queue.asyncAfter(
            deadline: .now() + .seconds(Int(clamping: seconds))
                + .microseconds(Int(clamping: microseconds))
        ) { [self] in
            jobs.add(1, ordering: .relaxed)
            count(job)
        }
    }

    func async(_ job: @escaping @Sendable () -> Void) {
        jobs.add(1, ordering: .relaxed)
        queue.async { [self] in count(job) }
    }

    private func count(_ job: () -> Void) {
        job()
        jobs.subtract(1, ordering: .relaxed)
    }

    /// The call waits for a single job if that job arrives at the same moment.
    func runIfIdle(_ job: () -> Void) -> Bool {
        let (isIdle, _) = jobs.compareExchange(expected: 0, desired: 1, ordering: .relaxed)
        if isIdle { queue.sync { count(job) } }
        return isIdle
    }

    func sync(_ job: @Sendable () -> Void) {
        if DispatchQueue.getSpecific(key: isInside) == true {
            job()
        } else {
            queue.sync(execute: job)
        }
    }
}
