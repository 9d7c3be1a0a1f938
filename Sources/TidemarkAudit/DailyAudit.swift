public import Foundation
public import Logging
public import ServiceLifecycle

/// Runs an ``OrphanAudit`` or another function once a day until the service shuts down, as a part
/// of a server's service group.
///
/// A failure is logged, and the function runs again the next day.
public struct DailyAudit: Service {
    private let schedule: DailySchedule
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Date
    private let body: @Sendable () async throws -> Void
    private let logger: Logger

    /// - Parameters:
    ///   - schedule: The time of day.
    ///   - clock: The clock for waiting; a test can pass one that it controls.
    ///   - logger: Logs the time of the next audit, and failures.
    ///   - now: Returns the current date, which decides when the next audit is due.
    ///   - body: The function to run. Errors are logged.
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
                    // A cancelled call can report its cancellation as any error.
                    if Task.isCancelled || error is CancellationError { return }
                    logger.error("The audit failed and runs again tomorrow: \(error)")
                }
            }
        }
    }

    /// Waits until the next audit, in steps of at most an hour, because the clock may be set and
    /// the machine may sleep.
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
