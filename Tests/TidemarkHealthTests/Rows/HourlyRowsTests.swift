import Foundation
import Testing

@testable import TidemarkHealth

struct `Rows of hours` {
    private static let berlin = TimeZone(identifier: "Europe/Berlin")!

    private static func hours(_ store: HealthStore) throws -> [HealthKind: [HourEntry]] {
        try `An import`.hours(store).filter { !$0.value.isEmpty }
    }

    private static let csv = """
        Source,kind,start,end,value,unit
        "Kim's ""old"" app, Watch",steps,2026-05-10T08:00:00+02:00,2026-05-10T09:00:00+02:00,812,
        iPhone,steps,2026-05-10T08:00:00+02:00,2026-05-10T09:00:00+02:00,700,
        iPhone,steps,2026-05-10T07:00:00Z,2026-05-10T08:00:00Z,100,
        App,schritte,2026-05-09 23:00:00 +0200,,50,
        App,HKQuantityTypeIdentifierHeartRate,1778392800,1778396400,61.5,count/min
        App,sleep,2026-05-10 01:00:00,2026-05-10 02:00:00,45,min
        App,steps,2026-05-10T08:00:00+02:00,2026-05-10T11:00:00+02:00,1,
        App,steps,yesterday,,1,
        App,humour,2026-05-10T08:00:00+02:00,,1,
        App,steps,2026-05-10T08:00:00+02:00,,-1,
        App,weight,2026-05-10T08:00:00+02:00,,1,kcal
        App,steps,2026-05-10T08:00:00+02:00,,,
        "open,steps,2026-05-10T08:00:00+02:00,,1,
        """

    @Test(
        arguments: [
            ("2026-05-10T08:00:00+02:00", 1_778_392_800),
            ("2026-05-10 08:00:00 +0200", 1_778_392_800),
            ("2026-05-10T06:00:00Z", 1_778_392_800), ("2026-05-10T06:00:00.999Z", 1_778_392_800),
            ("2026-05-10T08:00:00", 1_778_392_800), ("20260510080000+0200", 1_778_392_800),
            ("1778392800", 1_778_392_800), ("1778392800.9", 1_778_392_800), ("1778392800000", nil),
            ("2026-05-10", nil), ("10.05.2026 08:00:00", nil), ("2026-02-30T08:00:00Z", nil),
        ] as [(String, Int64?)])
    func `have a time in one of the forms that the documentation lists`(
        text: String, seconds: Int64?
    ) {
        let reader = RowReader(kinds: [:], timeZone: Self.berlin)
        let row = try? reader.row(RowFields(kind: "steps", start: text, value: "1"))
        #expect(row?.start == seconds)
    }

    @Test func `of CSV are brought along`() async throws {
        let scratch = try Scratch()
        let store = try scratch.store()
        let file = try scratch.write(Array(Self.csv.utf8), as: "hours.csv")
        let rows = HourlyRows(
            into: store, kinds: ["schritte": .steps], timeZone: Self.berlin)
        let report = try await rows.run(file)
        #expect(report.rows == 13 && report.bad == 7)
        #expect(
            report.badRows.map(\.reason) == [
                .notAnHour, .badDate(attribute: "start"), .badValue, .badValue, .badUnit,
                .missing(attribute: "value"), .malformed,
            ])
        #expect(report.badRows.first?.line == 8)
        #expect(
            report.badRows.map(\.text) == [
                "2026-05-10T11:00:00+02:00", "yesterday", "humour", "-1", "kcal", nil, nil,
            ])
        let hours = try Self.hours(store)
        let steps = try #require(hours[.steps])
        // The watch has priority over the other source. Their values are not added.
        #expect(steps.map(\.sum) == [50, 812, 100])
        #expect(steps.map(\.hour) == [23, 8, 9])
        #expect(
            steps.map(\.day) == ["2026-05-09", "2026-05-10", "2026-05-10"].map { HealthDay($0)! })
        #expect(steps.allSatisfy { $0.offset == 120 })
        #expect(hours[.heartRate]?.map(\.mean) == [61.5])
        #expect(hours[.heartRate]?.map(\.hour) == [8])
        #expect(hours[.sleep]?.map(\.sum) == [2_700])
        #expect(hours[.sleep]?.map(\.hour) == [1])
        #expect(report.added == 5 && report.change.kinds == [.steps, .heartRate, .sleep])

        let again = try await rows.run(file)
        #expect(again.added == 0 && again.known == 5 && again.change.isEmpty)
        #expect(try Self.hours(store) == hours)
        // These hours are sent to the server like other hours.
        #expect(try store.changedDays().days.contains(HealthDay("2026-05-09")!))
    }

    @Test func `of JSON lines are brought along`() async throws {
        let scratch = try Scratch()
        let store = try scratch.store()
        let text = """
            {"kind":"steps","start":1778392800,"end":1778396400,"value":812,"source":"Watch"}

            {"kind":"mood","start":"2026-05-10T12:00:00.250+02:00","value":"-0.4"}
            {"kind":"mood","start":
            """
        let file = try scratch.write(Array(text.utf8), as: "hours.jsonl")
        let report = try await HourlyRows(into: store, timeZone: Self.berlin).run(file)
        #expect(report.rows == 3 && report.added == 2 && report.bad == 1)
        #expect(report.badRows.first?.line == 4)
        let hours = try Self.hours(store)
        #expect(hours[.steps]?.first?.sum == 812 && hours[.steps]?.first?.hour == 8)
        #expect(hours[.mood]?.first?.last == -0.4)
    }

    @Test func `give way to what is measured, before and after`() async throws {
        let scratch = try Scratch()
        let store = try scratch.store()
        let text = """
            kind,start,end,value,source
            steps,2026-05-10T10:00:00+02:00,2026-05-10T11:00:00+02:00,600,App
            steps,2026-05-10T11:00:00+02:00,2026-05-10T12:00:00+02:00,300,App
            """
        let file = try scratch.write(Array(text.utf8), as: "hours.csv")
        let measured = MadeSamples.steps(580, at: 605)
        try await store.insert([measured])
        let report = try await HourlyRows(into: store).run(file)
        #expect(report.added == 1 && report.known == 1)
        #expect(try Self.hours(store)[.steps]?.map(\.sum) == [580, 300])
        // The second hour changes too, when its minutes arrive.
        try await store.insert([MadeSamples.steps(290, at: 670)])
        #expect(try Self.hours(store)[.steps]?.map(\.sum) == [580, 290])
        let again = try await HourlyRows(into: store).run(file)
        #expect(again.added == 0)
        #expect(try Self.hours(store)[.steps]?.map(\.sum) == [580, 290])
    }

    @Test func `that are none are refused, and nothing is stored`() async throws {
        let scratch = try Scratch()
        let store = try scratch.store()
        for (name, text) in [("a.csv", "a,b\n1,2\n"), ("b.txt", ""), ("c.xml", "<a>\n</a>\n")] {
            let file = try scratch.write(Array(text.utf8), as: name)
            await #expect(throws: HealthExportError.notRows(file: name)) {
                try await HourlyRows(into: store).run(file)
            }
        }
        let long = "kind,start,value\nsteps," + String(repeating: "9", count: 700_000) + "\n"
        let file = try scratch.write(
            Array((long + "steps,2026-05-10T10:00:00+02:00,5\n").utf8), as: "long.csv")
        let report = try await HourlyRows(into: store).run(file)
        #expect(report.badRows.map(\.reason) == [.tooLong] && report.badRows.first?.line == 2)
        #expect(report.added == 1)
    }

    @Test func `of ten years are read in any order in bounded memory`() async throws {
        let scratch = try Scratch()
        let store = try scratch.store()
        var lines = (0..<20_000).map { hour in
            "steps,\(1_600_000_000 / 3_600 * 3_600 + hour * 3_600),,\(hour % 900),Watch"
        }
        var dice = TestDice(8)
        lines.shuffle(using: &dice)
        let text = "kind,start,end,value,source\n" + lines.joined(separator: "\n")
        let file = try scratch.write(Array(text.utf8), as: "hours.csv")
        let zone = try #require(TimeZone(secondsFromGMT: 0))
        let report = try await HourlyRows(into: store, timeZone: zone).run(file)
        #expect(report.added == 20_000 && report.bad == 0)
        let sum = try Self.hours(store)[.steps]?.reduce(0) { $0 + $1.sum }
        #expect(sum == Double((0..<20_000).reduce(0) { $0 + $1 % 900 }))
    }
}
