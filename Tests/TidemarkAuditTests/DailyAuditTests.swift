import Foundation
import Logging
import Synchronization
import Testing

@testable import TidemarkAudit

/// A clock whose sleeps take no time: each sleep moves the clock to its deadline.
private final class LeapingClock: Clock {
    typealias Duration = Swift.Duration

    struct Instant: InstantProtocol {
        var offset: Duration

        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private let start: Date
    private let passed = Mutex(Duration.zero)
    private let naps = Mutex<[Duration]>([])

    init(_ start: Date) { self.start = start }

    var now: Instant { Instant(offset: passed.withLock { $0 }) }
    let minimumResolution = Duration.zero
    var longestNap: Duration { naps.withLock { $0.max() ?? .zero } }

    var date: Date {
        start.addingTimeInterval(Double(now.offset.components.seconds))
    }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
        let now = now
        naps.withLock { $0.append(now.duration(to: deadline)) }
        passed.withLock { $0 = max($0, deadline.offset) }
    }
}

struct DailyAuditTests {
    @Test(.timeLimit(.minutes(2)))
    func `it is done each night, also after one that failed, until it is to end`() async throws {
        let start = try #require(ISO8601DateFormatter().date(from: "2026-11-20T12:00:00Z"))
        let clock = LeapingClock(start)
        let schedule = try #require(DailySchedule("02:00", in: .gmt))
        let (runs, sink) = AsyncStream.makeStream(of: Date.self)
        let service = DailyAudit(schedule, clock: clock, logger: .silent, now: { clock.date }) {
            sink.yield(clock.date)
            throw AuditError("The first nights fail, and so do the others.")
        }
        let serving = Task { try await service.run() }
        var nights: [String] = []
        for await night in runs.prefix(3) {
            nights.append(ISO8601DateFormatter().string(from: night))
        }
        serving.cancel()
        try await serving.value
        #expect(
            nights == ["2026-11-21T02:00:00Z", "2026-11-22T02:00:00Z", "2026-11-23T02:00:00Z"])
        #expect(clock.longestNap <= .seconds(3_600))
    }
}

extension Logger {
    /// A logger that discards its messages. These tests do not check them.
    static var silent: Logger { Logger(label: "test") { _ in SwiftLogNoOpLogHandler() } }
}
