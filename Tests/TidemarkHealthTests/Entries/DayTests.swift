import Testing

@testable import TidemarkHealth

struct `Days as they were lived` {
    private static let zones = ["", "Europe/Berlin", "Africa/Cairo", "Asia/Kathmandu"]

    private func hours(_ samples: [PackedSample]) -> [HourEntry] {
        guard let kind = samples.first?.kind else { return [] }
        var builder = EntryBuilder(kind: kind, ranks: [0], zones: Self.zones)
        var entries: [HourEntry] = []
        for sample in samples.sorted(by: PackedSample.isBefore) { entries += builder.add(sample) }
        return entries + builder.finish()
    }

    private func steps(
        _ text: String, _ end: String, _ value: Int64, zone: UInt16 = 0
    ) throws -> PackedSample {
        func date(_ text: String) throws -> ExportDate {
            var text = text
            return try #require(text.withUTF8 { ExportDate.parse(UnsafeRawBufferPointer($0)) })
        }
        let (from, to) = (try date(text), try date(end))
        return PackedSample(
            kind: .steps, start: from.seconds, duration: UInt32(to.seconds - from.seconds),
            value: value * Decimal6.one, source: 0, sourceHash: 1, zone: zone,
            startOffset: from.offset, endOffset: to.offset)
    }

    private func totals(_ entries: [HourEntry]) -> [String: Double] {
        Dictionary(grouping: entries) { "\($0.day)" }.mapValues { $0.reduce(0) { $0 + $1.sum } }
    }

    @Test func `a sample over midnight belongs to both days`() throws {
        let entries = hours([
            try steps("2024-02-25 23:50:00 +0700", "2024-02-26 00:20:00 +0700", 300)
        ])
        #expect(totals(entries) == ["2024-02-25": 100, "2024-02-26": 200])
        #expect(entries.map(\.hour) == [23, 0])
    }

    @Test func `a day on which the clock goes forward has 23 hours`() throws {
        // The sample lasts from 00:00 +0100 to 24:00 +0200, with a step each minute. The sample
        // names its zone.
        let entries = hours([
            try steps("2026-03-29 00:00:00 +0100", "2026-03-30 00:00:00 +0200", 23 * 60, zone: 1)
        ])
        #expect(entries.count == 23)
        #expect(entries.map(\.hour) == [0, 1] + Array(3...23))
        #expect(totals(entries) == ["2026-03-29": 1_380])
        #expect(entries.allSatisfy { $0.sum == 60 && $0.zone == "Europe/Berlin" })
    }

    @Test func `a day on which the clock goes back has 25`() throws {
        let entries = hours([
            try steps("2026-10-25 00:00:00 +0200", "2026-10-26 00:00:00 +0100", 25 * 60, zone: 1)
        ])
        #expect(entries.map(\.hour) == [0, 1, 2, 2] + Array(3...23))
        #expect(entries.map(\.offset) == [120, 120, 120] + Array(repeating: 60, count: 22))
        #expect(totals(entries) == ["2026-10-25": 1_500])
    }

    @Test func `where clocks change at midnight, both written offsets are believed`() throws {
        // In Cairo on 31 October 2024, the clocks went from midnight back to 23:00.
        let entries = hours([
            try steps("2024-10-31 23:50:00 +0300", "2024-10-31 23:10:00 +0200", 200)
        ])
        #expect(totals(entries) == ["2024-10-31": 200])
        #expect(entries.map(\.offset) == [180, 120])
        let zoned = hours([
            try steps("2024-10-31 23:50:00 +0300", "2024-10-31 23:10:00 +0200", 200, zone: 2)
        ])
        #expect(totals(zoned) == ["2024-10-31": 200])
    }

    @Test func `the zone is believed before the offset that was written`() throws {
        // The export was made at home in Berlin. The walk was in Kathmandu, where it was already
        // past midnight.
        let entries = hours([
            try steps("2026-05-01 20:00:00 +0200", "2026-05-01 20:30:00 +0200", 90, zone: 3)
        ])
        #expect(totals(entries) == ["2026-05-01": 45, "2026-05-02": 45])
        #expect(entries.map(\.offset) == [345, 345])
        #expect(entries.map { $0.start % 3_600 } == [900, 900])
    }

    @Test func `a journey makes a day longer, and nothing is counted twice`() throws {
        // The journey leads from Berlin to New York: 02 May begins at +2 and ends at -4.
        let entries = hours([
            try steps("2026-05-02 10:00:00 +0200", "2026-05-02 10:30:00 +0200", 100),
            try steps("2026-05-02 10:00:00 -0400", "2026-05-02 10:30:00 -0400", 200),
            try steps("2026-05-02 23:45:00 -0400", "2026-05-03 00:15:00 -0400", 300),
        ])
        #expect(totals(entries) == ["2026-05-02": 450, "2026-05-03": 150])
        #expect(entries.count == 4)
    }

    @Test func `readings of an hour give smallest, largest, mean and last`() {
        let readings = [(10, 70), (20, 90), (20, 65), (5, 80)].map { second, value in
            PackedSample(
                kind: .heartRate, start: second, duration: 0, value: Int64(value) * Decimal6.one,
                source: 0, sourceHash: 1, startOffset: 0, endOffset: 0)
        }
        let entry = hours(readings).first
        #expect(entry?.count == 4)
        #expect(entry?.minimum == 65 && entry?.maximum == 90)
        #expect(entry?.mean == 76.25)
        // The larger of two values at the same second is the last.
        #expect(entry?.last == 90 && entry?.lastTime == 20)
    }
}
