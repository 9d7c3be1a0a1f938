import Foundation
import Synchronization
import Testing
import TestSupport
import Tidemark
import TidemarkApp
import TidemarkTesting

@Suite(.timeLimit(.minutes(2))) struct `A prefetcher` {
    /// Monday, 20 November 2023, 6:00 UTC.
    private static let start = Timestamp(seconds: 1_700_460_000, nanoseconds: 0)

    /// Returns the predictor of a user who opens the chats at 8:20 on weekdays.
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
        try await until("the chats are warmed") { log.contexts.withLock { $0 } == ["chats"] }
        #expect(await prefetcher.warmed.count == 1)
        await clock.sleepers()
        clock.advance(by: .seconds(86_400))
        try await until("the chats are warmed again") {
            log.contexts.withLock { $0 } == ["chats", "chats"]
        }
        await prefetcher.setEnabled(false)
        try await until("nobody sleeps on the clock") { clock.count == 0 }
    }

    /// Returns a predictor of so many contexts, opened at 8:20 on each of the last five weekdays.
    private func sameHour(_ contexts: Int, apart: Int = 0) -> PrefetchPredictor {
        var predictor = PrefetchPredictor(timeZone: TimeZone(identifier: "UTC")!)
        for context in 0..<contexts {
            for day in 3...7 {
                let second = 8_400 + context * apart - day * 86_400
                predictor.opened(
                    "c\(context)", at: Self.start.advanced(by: .seconds(second)))
            }
        }
        return predictor
    }

    @Test func `warms all that is due at one time, up to a day's limit`() async throws {
        let (clock, log) = (ManualClock(), Log())
        let prefetcher = Prefetcher(
            sameHour(Prefetcher.maxPerDay + 12), clock: clock,
            now: { Self.start.advanced(by: clock.now.time) },
            warm: { context in log.contexts.withLock { $0.append(context) } })
        await prefetcher.setEnabled(true)
        await clock.sleepers()
        clock.advance(by: .seconds(7_800))
        // The prefetcher waits for the next day.
        await clock.sleepers()
        #expect(Set(log.contexts.withLock { $0 }).count == Prefetcher.maxPerDay)
        #expect(log.contexts.withLock { $0 }.count == Prefetcher.maxPerDay)
        #expect(await prefetcher.warmed.count == Prefetcher.maxPerDay)
        await prefetcher.setEnabled(false)
    }

    /// Starts the prefetcher, and returns while it reads the first context.
    private func begin(
        _ prefetcher: Prefetcher, _ clock: ManualClock, _ log: Log
    ) async throws {
        await prefetcher.setEnabled(true)
        await clock.sleepers()
        clock.advance(by: .seconds(7_800))
        try await until("the first context is being read") {
            log.contexts.withLock { $0 } == ["c0"]
        }
    }

    @Test func `warms what came due while another context was read, and opening one stops neither`()
        async throws
    {
        let (clock, log) = (ManualClock(), Log())
        let gate = Mutex(false)
        let prefetcher = Prefetcher(
            sameHour(2, apart: 5), clock: clock,
            now: { Self.start.advanced(by: clock.now.time) },
            warm: { context in
                log.contexts.withLock { $0.append(context) }
                try? await until("the gate is open") { gate.withLock { $0 } }
                log.contexts.withLock { $0.append(Task.isCancelled ? "cancelled" : "done") }
            })
        try await begin(prefetcher, clock, log)
        clock.advance(by: .seconds(20))
        await prefetcher.opened("c7")
        gate.withLock { $0 = true }
        try await until("both contexts are read") { log.contexts.withLock { $0.count } >= 4 }
        #expect(log.contexts.withLock { $0 } == ["c0", "done", "c1", "done"])
        await prefetcher.setEnabled(false)
    }

    @Test func `turned off and on while a context is read, goes on with the next`() async throws {
        let (clock, log) = (ManualClock(), Log())
        let gate = AsyncStream.makeStream(of: Void.self)
        let prefetcher = Prefetcher(
            sameHour(2, apart: 60), clock: clock,
            now: { Self.start.advanced(by: clock.now.time) },
            warm: { context in
                log.contexts.withLock { $0.append(context) }
                // The read continues after its cancellation, as some reads do.
                await Task.detached { for await _ in gate.stream {} }.value
            })
        try await begin(prefetcher, clock, log)
        await prefetcher.setEnabled(false)
        await prefetcher.setEnabled(true)
        gate.continuation.finish()
        await clock.sleepers()
        clock.advance(by: .seconds(60))
        try await until("the second context is being read") {
            log.contexts.withLock { $0 } == ["c0", "c1"]
        }
        await prefetcher.setEnabled(false)
    }
}
