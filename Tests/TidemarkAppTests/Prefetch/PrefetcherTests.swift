import Foundation
import Synchronization
import Testing
import Tidemark
import TidemarkApp
import TidemarkTesting

@Suite(.timeLimit(.minutes(20))) struct `A prefetcher` {
    /// Monday, 20 November 2023, 6:00 UTC.
    private static let start = Timestamp(seconds: 1_700_460_000, nanoseconds: 0)

    /// Of somebody who opens their chats at 8:20 on weekdays.
    private func predictor() -> PrefetchPredictor {
        var predictor = PrefetchPredictor(timeZone: TimeZone(identifier: "UTC")!)
        for day in 1...14 {
            let time = Self.start.advanced(by: .seconds(8_400 - day * 86_400))
            let weekday = (7 - day % 7) % 7
            if weekday < 5 { predictor.opened("chats", at: time) }
        }
        return predictor
    }

    private final class Log: Sendable {
        let contexts = Mutex<[String]>([])
    }

    private func prefetcher(_ clock: ManualClock, _ log: Log) -> Prefetcher {
        Prefetcher(
            predictor(), clock: clock,
            now: { Self.start.advanced(by: clock.now.time) },
            warm: { context in log.contexts.withLock { $0.append(context) } })
    }

    @Test func `is off by default, and does nothing then`() async {
        let (clock, log) = (ManualClock(), Log())
        let prefetcher = prefetcher(clock, log)
        await prefetcher.opened("chats")
        #expect(await !prefetcher.isEnabled)
        #expect(clock.count == 0, "nobody waits for anything")
    }

    @Test func `warms what is about to be opened, and then waits for the next time`() async throws {
        let (clock, log) = (ManualClock(), Log())
        let prefetcher = prefetcher(clock, log)
        await prefetcher.setEnabled(true)
        await clock.sleepers()
        clock.advance(by: .seconds(7_799))
        #expect(log.contexts.withLock { $0 }.isEmpty)
        clock.advance(by: .seconds(1))
        while log.contexts.withLock({ $0 }) != ["chats"] {
            try await Task.sleep(for: .milliseconds(1))
        }
        #expect(await prefetcher.warmed.count == 1)
        await clock.sleepers()
        clock.advance(by: .seconds(86_400))
        while log.contexts.withLock({ $0 }) != ["chats", "chats"] {
            try await Task.sleep(for: .milliseconds(1))
        }
        await prefetcher.setEnabled(false)
        while clock.count > 0 { try await Task.sleep(for: .milliseconds(1)) }
    }
}
