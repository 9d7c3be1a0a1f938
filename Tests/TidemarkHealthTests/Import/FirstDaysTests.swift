import Foundation
import Synchronization
import Testing

@testable import TidemarkHealth

struct `The first days of an import` {
    /// These settings split a file of a few megabytes as an import splits a file of a gigabyte.
    private static let settings = NewestRecords.Settings(
        smallest: 1 << 20, stretch: 256 << 10, part: 16 << 10)

    private static func importing(_ store: HealthStore) -> HealthImport {
        HealthImport(
            into: store, priority: SourcePriority(), capacity: SampleRuns.defaultCapacity,
            newest: settings)
    }

    @Test(arguments: [(1, 60), (2, 90), (7, 45)] as [(UInt64, Int)])
    func `are in the store before the file is read, and all is the same in the end`(
        seed: UInt64, days: Int
    ) async throws {
        let scratch = try Scratch()
        let (bytes, truth) = generated(HealthGenerator(days: days, seed: seed))
        let file = try scratch.write(bytes)
        let store = try scratch.store()
        typealias Totals = [HealthKind: [HealthDay: HealthTruth.Total]]
        let seen = Mutex<(steps: [HealthImport.Progress], totals: Totals?)>(([], nil))
        let report = try await Self.importing(store).run(file) { progress in
            // The import waits for this closure, so the totals are read here.
            let totals = progress.bytesRead == 0 ? try? `An import`.totals(store) : nil
            seen.withLock { seen in
                seen.steps.append(progress)
                if seen.totals == nil { seen.totals = totals }
            }
        }
        let (steps, totals) = seen.withLock { ($0.steps, $0.totals ?? [:]) }
        #expect(steps.first?.phase == .reading && steps.first?.bytesRead == 0)
        #expect(steps.allSatisfy { $0.firstDays == .stored })
        let last = HealthDay("2026-05-10")!
        for kind in [HealthKind.steps, .heartRate, .sleep, .weight, .mood, .activeEnergy] {
            for number in (last.number - 6)...last.number {
                let day = HealthDay(number: number)
                #expect(totals[kind]?[day] == truth.totals[kind]?[day], "\(kind) on \(day)")
            }
        }
        let old = HealthDay(number: last.number - 20)
        #expect(totals[.steps]?[old] == nil, "it was not to be read yet")

        let plain = try scratch.store("plain.sqlite")
        let expected = try await HealthImport(into: plain).run(file)
        #expect(report == expected)
        #expect(report.known == 0, "the samples of the first days were counted twice")
        #expect(try `An import`.hours(store) == `An import`.hours(plain))
        let again = try await Self.importing(store).run(file)
        #expect(again.added == 0 && again.known == report.added && again.changed.isEmpty)
    }

    @Test func `come with the rest where they cannot be found before`() async throws {
        let scratch = try Scratch()
        let (bytes, _) = generated(HealthGenerator(days: 30, seed: 3))
        func state(_ file: String, _ importing: (HealthStore) -> HealthImport) async throws
            -> Set<HealthImport.FirstDays>
        {
            let seen = Mutex<Set<HealthImport.FirstDays>>([])
            let store = try scratch.store(UUID().uuidString)
            _ = try await importing(store).run(file) { progress in
                _ = seen.withLock { $0.insert(progress.firstDays) }
            }
            return seen.withLock { $0 }
        }
        let small = try scratch.write(Array(bytes.prefix(500_000)))
        #expect(try await state(small, { HealthImport(into: $0) }) == [.withTheRest(.small)])

        var (head, records, rest) = `An import`.elements(bytes)
        var dice = TestDice(4)
        records.shuffle(using: &dice)
        let shuffled = try scratch.write(head + records.joined() + rest, as: "shuffled.xml")
        #expect(try await state(shuffled, Self.importing) == [.withTheRest(.scattered)])
        head = []

        var zip: [UInt8] = []
        let writer = ZipWriter(entry: "export.xml") { zip += $0 }
        try writer.add(bytes)
        try writer.finish()
        let packed = try scratch.write(zip, as: "export.zip")
        #expect(try await state(packed, Self.importing) == [.withTheRest(.packed)])
    }

    @Test func `of what is no export are none`() async throws {
        let scratch = try Scratch()
        let store = try scratch.store()
        let line = Array("<Record type=\"HKQuantityTypeIdentifierStepCount\"/>\n".utf8)
        let file = try scratch.write(
            Array(repeatElement(line, count: 40_000).joined()), as: "a.xml")
        await #expect(throws: HealthExportError.notAnExport(file: "a.xml")) {
            try await Self.importing(store).run(file)
        }
        #expect(try store.read { try $0.days() } == nil)
    }
}
