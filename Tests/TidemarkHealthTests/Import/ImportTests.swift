import Foundation
import Testing

@testable import TidemarkHealth

struct `An import` {
    /// Returns the store's totals of each day, in the form of the generator's totals.
    static func totals(
        _ store: HealthStore
    ) throws -> [HealthKind: [HealthDay: HealthTruth.Total]] {
        try store.read { snapshot in
            guard let days = try snapshot.days() else { return [:] }
            var found: [HealthKind: [HealthDay: HealthTruth.Total]] = [:]
            for kind in HealthKind.allCases {
                for total in try snapshot.totals(kind, days: days) {
                    var truth = HealthTruth.Total()
                    truth.sumMillionths = total.sumMillionths
                    truth.count = total.count
                    truth.minMillionths = total.minMillionths
                    truth.maxMillionths = total.maxMillionths
                    found[kind, default: [:]][total.day] = truth
                }
            }
            return found
        }
    }

    static func hours(_ store: HealthStore) throws -> [HealthKind: [HourEntry]] {
        try store.read { snapshot in
            guard let days = try snapshot.days() else { return [:] }
            var found: [HealthKind: [HourEntry]] = [:]
            for kind in HealthKind.allCases {
                found[kind] = try snapshot.entries(kind, days: days)
            }
            return found
        }
    }

    /// Returns the parts of a generated file: the text before the records, each record, and the
    /// end.
    static func elements(_ bytes: [UInt8]) -> (head: [UInt8], records: [[UInt8]], rest: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let first = lines.firstIndex { $0.hasPrefix(" <Record") }!
        let last = lines.firstIndex { $0.hasPrefix(" <Correlation") }!
        var records: [[UInt8]] = []
        for line in lines[first..<last] {
            if line.hasPrefix(" <Record") { records.append([]) }
            records[records.count - 1] += Array(line.utf8) + [10]
        }
        func joined(_ lines: ArraySlice<Substring>) -> [UInt8] {
            Array(lines.joined(separator: "\n").utf8)
        }
        return (joined(lines[..<first]) + [10], records, joined(lines[last...]))
    }

    @Test(arguments: [(1, 40), (2, 120), (3, 400)] as [(UInt64, Int)])
    func `comes to what was lived, over journeys and changes of the clock`(
        seed: UInt64, days: Int
    ) async throws {
        let scratch = try Scratch()
        let (bytes, truth) = generated(HealthGenerator(days: days, seed: seed))
        let store = try scratch.store()
        let report = try await HealthImport(into: store).run(try scratch.write(bytes))
        #expect(report.counts.bytes == truth.bytes)
        #expect(report.counts.records == truth.records)
        #expect(report.counts.ignored == truth.ignored)
        #expect(report.counts.nested == truth.nested)
        #expect(report.counts.bad == 0)
        #expect(report.added + report.duplicates == report.counts.samples)
        let found = try Self.totals(store)
        for kind in HealthKind.allCases {
            let expected = truth.totals[kind] ?? [:]
            #expect((found[kind] ?? [:]).count == expected.count, "\(kind)")
            for (day, total) in expected {
                #expect(found[kind]?[day] == total, "\(kind) on \(day)")
            }
        }
    }

    @Test func `again, shuffled, doubled or in pieces, changes nothing`() async throws {
        let scratch = try Scratch()
        let (bytes, _) = generated(HealthGenerator(days: 12, seed: 9))
        let first = try scratch.store("first.sqlite")
        let original = try scratch.write(bytes)
        let report = try await HealthImport(into: first).run(original)
        let expected = try Self.hours(first)
        #expect(report.added > 5_000)

        let again = try await HealthImport(into: first).run(original)
        #expect(again.added == 0 && again.changed.isEmpty && again.known == report.added)
        #expect(try Self.hours(first) == expected)

        var (head, records, rest) = Self.elements(bytes)
        var dice = TestDice(4)
        records.shuffle(using: &dice)
        let doubled = records + records.prefix(500)
        let shuffled = try scratch.store("shuffled.sqlite")
        // The runs have 300 samples, so a dozen runs are merged from the disk.
        let importing = HealthImport(
            into: shuffled, priority: SourcePriority(), capacity: 300)
        _ = try await importing.run(try scratch.write(head + doubled.joined() + rest))
        #expect(try Self.hours(shuffled) == expected)

        let pieces = try scratch.store("pieces.sqlite")
        for piece in 0..<4 {
            let part = records.enumerated().filter { $0.offset % 4 == piece }.flatMap(\.element)
            _ = try await HealthImport(into: pieces).run(try scratch.write(head + part + rest))
        }
        #expect(try Self.hours(pieces) == expected)
    }

    @Test func `more runs than may be open are merged on the way`() async throws {
        let scratch = try Scratch()
        let (bytes, _) = generated(HealthGenerator(days: 4, seed: 5))
        let whole = try scratch.store("whole.sqlite")
        let file = try scratch.write(bytes)
        let expected = try await HealthImport(into: whole).run(file)
        let tiny = try scratch.store("tiny.sqlite")
        let report = try await HealthImport(
            into: tiny, priority: SourcePriority(), capacity: 10
        ).run(file)
        #expect(report == expected)
        #expect(try Self.hours(tiny) == Self.hours(whole))
    }

    @Test func `made in another zone moves no day`() async throws {
        let scratch = try Scratch()
        func record(_ start: String, _ end: String, _ metadata: String = "") -> String {
            """
            <Record type="HKQuantityTypeIdentifierStepCount" sourceName="Phone" unit="count" \
            startDate="\(start)" endDate="\(end)" value="100">\(metadata)</Record>
            """
        }
        let home = record("2026-05-01 23:00:00 +0200", "2026-05-01 23:10:00 +0200")
        let away = record("2026-05-02 05:00:00 +0800", "2026-05-02 05:10:00 +0800")
        let store = try scratch.store()
        let importing = HealthImport(into: store)
        _ = try await importing.run(try scratch.write(Array(exportText(home).utf8)))
        let before = try Self.hours(store)
        let report = try await importing.run(try scratch.write(Array(exportText(away).utf8)))
        #expect(report.known == 1 && report.added == 0)
        #expect(try Self.hours(store) == before)
        // A later record with a zone changes the hour.
        let zoned = record(
            "2026-05-02 05:00:00 +0800", "2026-05-02 05:10:00 +0800",
            "<MetadataEntry key=\"HKTimeZone\" value=\"Asia/Manila\"/>")
        let second = try await importing.run(try scratch.write(Array(exportText(zoned).utf8)))
        // The file has one record, which the store knew. It does not also count as new.
        #expect(second.counts.samples == second.added + second.known + second.duplicates)
        #expect(second.added == 0 && second.known == 1 && second.changed == [.steps])
        let entry = try Self.hours(store)[.steps]?.first
        #expect(entry?.zone == "Asia/Manila" && entry?.day == HealthDay("2026-05-02"))
        #expect(try Self.hours(store)[.steps]?.count == 1)
    }

    @Test func `lists what is damaged and keeps the rest`() async throws {
        let scratch = try Scratch()
        let generator = HealthGenerator(days: 10, seed: 6, isDamaged: true)
        let (bytes, truth) = generated(generator)
        let store = try scratch.store()
        let report = try await HealthImport(into: store).run(try scratch.write(bytes))
        #expect(truth.bad > 0)
        #expect(report.counts.bad == truth.bad)
        let found = try Self.totals(store)
        #expect(found[.steps] == truth.totals[.steps])
        let lines = String(decoding: bytes, as: UTF8.self).split(
            separator: "\n", omittingEmptySubsequences: false)
        for bad in report.counts.badRecords {
            let line = lines[bad.line - 1]
            #expect(
                line.contains("yesterday") || line.contains("many") || line.contains("2020")
                    || !line.contains("startDate"))
        }
    }

    @Test func `of a file that is no export leaves the store alone`() async throws {
        let scratch = try Scratch()
        let store = try scratch.store()
        let file = try scratch.write(Array("a,b,c\n1,2,3\n".utf8), as: "steps.csv")
        await #expect(throws: HealthExportError.notAnExport(file: "steps.csv")) {
            try await HealthImport(into: store).run(file)
        }
        await #expect(throws: HealthExportError.self) {
            try await HealthImport(into: store).run(scratch.path + "/nothing.xml")
        }
        await #expect(throws: HealthExportError.self) {
            try await HealthImport(into: store).run(scratch.path)
        }
        #expect(try store.read { try $0.days() } == nil)
    }

    @Test func `tells how far it is`() async throws {
        let scratch = try Scratch()
        let (bytes, _) = generated(HealthGenerator(days: 12, seed: 2))
        let (seen, input) = AsyncStream.makeStream(of: HealthImport.Progress.self)
        _ = try await HealthImport(into: try scratch.store()).run(try scratch.write(bytes)) {
            input.yield($0)
        }
        input.finish()
        var all: [HealthImport.Progress] = []
        for await progress in seen { all.append(progress) }
        #expect(all.contains { $0.phase == .reading && $0.bytesRead < $0.bytesTotal })
        #expect(all.last?.phase == .storing(.mood))
        #expect(all.map(\.bytesRead) == all.map(\.bytesRead).sorted())
    }

    @Test func `that is cancelled ends`() async throws {
        let scratch = try Scratch()
        let (bytes, _) = generated(HealthGenerator(days: 12, seed: 2))
        let file = try scratch.write(bytes)
        let store = try scratch.store()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await HealthImport(into: store).run(file)
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try store.read { try $0.days() } == nil)
    }
}
