import Dispatch
import Foundation
import Synchronization
package import TidemarkModel

/// What the server may not decide for itself: the time, chance, and where its work runs.
package struct ServerEnvironment: Sendable {
    /// The machine's time. It may jump and go back: commit times do not.
    package var now: @Sendable () -> Timestamp
    /// 64 bits of chance, for document and transaction ids.
    package var randomBits: @Sendable () -> UInt64
    package var executor: any ServerExecutor
    /// How long something took: a clock that never goes back, from any beginning.
    package var ticks: @Sendable () -> Duration = { .zero }
    /// Takes a line for whoever runs the server.
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

    /// The machine's clock and chance, and a queue of the server's own.
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
    /// How long it runs already, as its timers count: it never goes back.
    var uptime: Duration { get }
    /// Runs `job` in its turn once `delay` has passed.
    func after(_ delay: Duration, _ job: @escaping @Sendable () -> Void)
    /// Runs `job` after all that were given before. Never inside the call.
    func async(_ job: @escaping @Sendable () -> Void)
    /// Runs `job` after all that were given before, and returns when it is done; at once when called
    /// from one of its jobs.
    func sync(_ job: @Sendable () -> Void)
    /// Runs `job` on the calling thread, as the executor's next one, where no job runs and none waits.
    ///
    /// - Returns: Whether it has run.
    func runIfIdle(_ job: () -> Void) -> Bool
}

extension ServerExecutor {
    /// For an executor that runs jobs on no thread but its own.
    package func runIfIdle(_ job: () -> Void) -> Bool { false }
}

/// A serial queue of Dispatch.
final class QueueExecutor: ServerExecutor {
    private let queue = DispatchQueue(label: "tidemark.server")
    private let isInside = DispatchSpecificKey<Bool>()
    /// How many jobs wait or run. A timer's counts while it runs.
    private let jobs = Atomic(0)

    init() { queue.setSpecific(key: isInside, value: true) }

    var uptime: Duration { .nanoseconds(Int64(clamping: DispatchTime.now().uptimeNanoseconds)) }

    func after(_ delay: Duration, _ job: @escaping @Sendable () -> Void) {
        let (seconds, attoseconds) = delay.components
        // Rounded up, so that what was due when it was asked for is due when it runs.
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

    /// It waits for one job where that comes in the same moment.
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
