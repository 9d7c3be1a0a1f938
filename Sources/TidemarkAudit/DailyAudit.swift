public import Foundation
public import Logging
public import ServiceLifecycle

/// Does something each day at a time, until the service is told to shut down: an ``OrphanAudit``, as a
/// part of a server's service group.
///
/// A day that fails is logged, and the next one is tried again.
public struct DailyAudit: Service {
    private let schedule: DailySchedule
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Date
    private let body: @Sendable () async throws -> Void
    private let logger: Logger

    /// - Parameters:
    ///   - schedule: The time of day.
    ///   - clock: Waits; a test's own stands still.
    ///   - logger: Hears when the next audit is due, and of those that failed.
    ///   - now: The time by which a day is a day.
    ///   - body: What is done. What it throws is logged.
    public init(
        _ schedule: DailySchedule, clock: any Clock<Duration> = ContinuousClock(),
        logger: Logger = Logger(label: "tidemark.audit"),
        now: @escaping @Sendable () -> Date = { Date() },
        body: @escaping @Sendable () async throws -> Void
    ) {
        self.schedule = schedule
        self.clock = clock
        self.logger = logger
        self.now = now
        self.body = body
    }

    public func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                do {
                    try await waitForNext()
                    try await body()
                } catch {
                    // Whatever a call that was cut off says of it.
                    if Task.isCancelled || error is CancellationError { return }
                    logger.error("The audit failed; it is tried again tomorrow: \(error)")
                }
            }
        }
    }

    /// In steps of an hour at most, because a clock may be set meanwhile and a machine may sleep.
    private func waitForNext() async throws {
        let due = schedule.next(after: now())
        logger.info("The next audit is at \(schedule.text(due)).")
        while true {
            let left = due.timeIntervalSince(now())
            if left <= 0 { return }
            try await clock.sleep(for: .seconds(min(left, 3_600)))
        }
    }
}
