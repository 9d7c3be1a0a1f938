import Foundation
import Testing

@testable import TidemarkHealth

struct `Hours of the app's own store` {
    private let berlin = TimeZone(identifier: "Europe/Berlin")!

    private func time(_ text: String) throws -> Date {
        try #require(ISO8601DateFormatter().date(from: text))
    }

    private func entries() throws -> [HourlyEntry] {
        [
            HourlyEntry(
                kind: "stepCount", start: try time("2026-05-10T06:00:00Z"), value: 812,
                source: "Watch"),
            HourlyEntry(kind: "steps", start: try time("2026-05-10T07:20:30Z"), value: 100.5),
            HourlyEntry(
                kind: "HKQuantityTypeIdentifierHeartRate", start: try time("2026-05-10T06:00:00Z"),
                end: try time("2026-05-10T07:00:00Z"), value: 61.5, unit: "count/min"),
            HourlyEntry(
                kind: "steps", start: try time("2026-05-10T06:00:00Z"),
                end: try time("2026-05-10T08:00:00Z"), value: 1),
            HourlyEntry(kind: "humour", start: try time("2026-05-10T06:00:00Z"), value: 1),
            HourlyEntry(kind: "steps", start: try time("2026-05-10T09:00:00Z"), value: .nan),
            HourlyEntry(kind: "steps", start: try time("2026-05-10T09:00:00Z"), value: -3),
            HourlyEntry(kind: "steps", start: .distantFuture, value: 3),
        ]
    }

    @Test func `are brought along, and bad ones are named by their place`() async throws {
        let scratch = try Scratch()
        let store = try scratch.store()
        let rows = HourlyRows(into: store, kinds: ["stepCount": .steps], timeZone: berlin)
        let entries = try entries()
        let report = try await rows.run(entries)
        #expect(report.rows == 8 && report.added == 3 && report.bad == 5)
        #expect(report.badRows.map(\.line) == [4, 5, 6, 7, 8])
        let hours = try `An import`.hours(store)
        #expect(hours[.steps]?.map(\.sum) == [812, 100.5])
        #expect(hours[.steps]?.map(\.hour) == [8, 9], "local hours")
        #expect(hours[.heartRate]?.map(\.mean) == [61.5])

        let again = try await rows.run(Array(entries.reversed()))
        #expect(again.added == 0 && again.known == 3 && again.change.isEmpty)
    }

    @Test func `give way to what is measured`() async throws {
        let scratch = try Scratch()
        let store = try scratch.store()
        try await store.insert([MadeSamples.steps(580, at: 605)])
        let report = try await HourlyRows(into: store).run([
            HourlyEntry(kind: "steps", start: try time("2026-05-10T08:00:00Z"), value: 600),
            HourlyEntry(kind: "steps", start: try time("2026-05-10T09:00:00Z"), value: 300),
        ])
        #expect(report.added == 1 && report.known == 1)
    }

    @Test func `that are none change nothing`() async throws {
        let store = try Scratch().store()
        let report = try await HourlyRows(into: store).run([HourlyEntry]())
        #expect(report == HourlyRows.Report())
    }
}
