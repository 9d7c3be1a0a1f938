import Foundation
import Testing
import TestSupport
import Tidemark
import TidemarkApp
import TidemarkTesting

struct `Relative times` {
    private let now = Timestamp(seconds: 1_697_800_000, nanoseconds: 0)
    private let utc = RelativeTime(timeZone: TimeZone(identifier: "UTC")!)

    private func text(_ seconds: Int64, nanoseconds: Int64 = 0) -> String {
        utc.text(
            for: now.advanced(by: .zero - .seconds(seconds) - .nanoseconds(nanoseconds)), at: now)
    }

    @Test func `change exactly at their boundaries`() {
        #expect(text(0) == "Now" && text(59, nanoseconds: 999_999_999) == "Now")
        #expect(text(60) == "1m ago" && text(119) == "1m ago" && text(120) == "2m ago")
        #expect(text(3_599, nanoseconds: 999_999_999) == "59m ago")
        #expect(text(3_600) == "1h ago" && text(5 * 3_600) == "5h ago")
        #expect(text(86_399, nanoseconds: 999_999_999) == "23h ago")
        #expect(text(86_400) == "Yesterday")
        #expect(text(172_799, nanoseconds: 999_999_999) == "Yesterday")
        #expect(text(172_800) == "Oct 18", "1697800000 is of 20 October 2023")
    }

    @Test func `of the future are now, however far`() {
        #expect(text(-1) == "Now" && text(-86_400 * 400) == "Now")
        #expect(utc.text(for: .max, at: now) == "Now")
    }

    @Test func `name the day of the time zone and calendar given`() throws {
        // 19 October, 23:30 UTC.
        let time = Timestamp(seconds: 1_697_758_200, nanoseconds: 0)
        let later = time.advanced(by: .seconds(172_800))
        #expect(utc.text(for: time, at: later) == "Oct 19")
        let tokyo = RelativeTime(timeZone: try #require(TimeZone(identifier: "Asia/Tokyo")))
        #expect(tokyo.text(for: time, at: later) == "Oct 20")
        var hebrew = Calendar(identifier: .hebrew)
        hebrew.timeZone = try #require(TimeZone(identifier: "UTC"))
        let words = RelativeTime.Words(
            now: "jetzt", minutes: { "vor \($0) min" }, hours: { "vor \($0) h" },
            yesterday: "gestern", day: { "\($1). \($0)." })
        let other = RelativeTime(calendar: hebrew, words: words)
        #expect(other.text(for: time, at: later) == "4. 2.", "4 Heshvan 5784")
        #expect(other.text(for: time, at: time) == "jetzt")
    }

    @Test func `speak the app's language, as its table has the words`() {
        let german: [String: String] = [
            "time.now": "jetzt", "time.minutes": "vor %1$@ Min.", "time.hours": "vor %1$@ Std.",
            "time.yesterday": "gestern", "time.day": "%2$@. %1$@", "time.october": "Okt.",
        ]
        var times = utc
        times.words = RelativeTime.Words(by: { german[$0] })
        let texts = [1, 120, 7_200, 90_000, 200_000, 86_400 * 20].map { ago in
            times.text(for: now.advanced(by: .seconds(-ago)), at: now)
        }
        // The table has no text for 30 September, so this date is in English.
        let wanted = ["jetzt", "vor 2 Min.", "vor 2 Std.", "gestern", "18. Okt.", "30. Sep"]
        #expect(texts == wanted)
    }

    @Test func `are English where the app has no table`() {
        let english = RelativeTime(calendar: utc.calendar, words: .english)
        for ago in [1, 120, 7_200, 90_000, 200_000] {
            let time = now.advanced(by: .seconds(-ago))
            #expect(utc.text(for: time, at: now) == english.text(for: time, at: now))
        }
        // The twelve months have different names, and a thirteenth month has its number.
        #expect(Set((1...12).map { RelativeTime.Words.localized.day($0, 1) }).count == 12)
        #expect(RelativeTime.Words.localized.day(13, 7) == "13 7")
    }

    @Test func `are of the whole range of times`() {
        // Calendars differ on which day began the year 1.
        #expect(utc.text(for: .min, at: .max).hasPrefix("Jan "))
    }
}

@MainActor @Suite(.timeLimit(.minutes(2))) struct `A ticker` {
    @Test func `runs one timer for all who look, and none for nobody`() async throws {
        let clock = ManualClock()
        let start = Timestamp(seconds: 1_000, nanoseconds: 0)
        let ticker = Ticker(clock: clock, wallClock: { start.advanced(by: clock.now.time) })
        clock.advance(by: .seconds(7))
        #expect(ticker.now == start, "nobody looks")
        let views = (0..<20).map { _ in Task { await ticker.watch() } }
        try await until("20 views watch") { ticker.watchers == 20 }
        #expect(ticker.now == start.advanced(by: .seconds(7)))
        await clock.sleepers()
        #expect(clock.count == 1)
        clock.advance(by: .seconds(60))
        try await until("the ticker has ticked") { ticker.now >= start.advanced(by: .seconds(67)) }
        await clock.sleepers()
        for view in views.dropLast() { view.cancel() }
        try await until("one view is left") { ticker.watchers <= 1 }
        #expect(clock.count == 1)
        views.last?.cancel()
        try await until("nobody watches, and nothing ticks") {
            ticker.watchers == 0 && clock.count == 0
        }
        clock.advance(by: .seconds(600))
        #expect(ticker.now == start.advanced(by: .seconds(67)))
    }
}
