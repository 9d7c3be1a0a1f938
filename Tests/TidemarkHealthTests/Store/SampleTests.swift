import Foundation
import Testing

@testable import TidemarkHealth

/// Made-up samples in the form that HealthKit gives.
enum MadeSamples {
    static let watch = HealthSource(name: "Watch", model: "Watch7,1")
    static let phone = HealthSource(name: "Kim's iPhone", model: "iPhone15,2")
    /// The date 10 May 2026, 00:00 in Berlin.
    static let midnight = Date(timeIntervalSince1970: 1_778_364_000)
    static let berlin = TimeZone(identifier: "Europe/Berlin")!

    static func steps(
        _ count: Double, at minutes: Double, lasting: Double = 10, by source: HealthSource = watch,
        id: UUID = UUID()
    ) -> HealthSample {
        let start = midnight.addingTimeInterval(minutes * 60)
        return HealthSample(
            id: id, kind: .steps, value: .quantity(count, unit: "count"), start: start,
            end: start.addingTimeInterval(lasting * 60), source: source, timeZone: berlin)
    }

    static func some(_ count: Int, days: Int, _ dice: inout TestDice) -> [HealthSample] {
        (0..<count).map { _ in
            let at = Double.random(in: 0..<Double(days * 1_440), using: &dice).rounded()
            let start = midnight.addingTimeInterval(-at * 60)
            let length = Double(Int.random(in: 0...90, using: &dice)) * 60
            let source = Bool.random(using: &dice) ? watch : phone
            let zone =
                Int.random(in: 0..<3, using: &dice) == 0 ? ["HKTimeZone": "Asia/Manila"] : [:]
            let (kind, value): (HealthKind, HealthSample.Value) =
                switch Int.random(in: 0..<4, using: &dice) {
                case 0:
                    (
                        .heartRate,
                        .quantity(Double.random(in: 50...90, using: &dice), unit: "count/min")
                    )
                case 1: (.sleep, .category(Int.random(in: 0...5, using: &dice)))
                case 2: (.distance, .quantity(Double.random(in: 0...3, using: &dice), unit: "km"))
                default:
                    (
                        .steps,
                        .quantity(Double(Int.random(in: 1...900, using: &dice)), unit: "count")
                    )
                }
            return HealthSample(
                id: UUID(), kind: kind, value: value, start: start,
                end: start.addingTimeInterval(kind == .heartRate ? 0 : length), source: source,
                metadata: zone, timeZone: berlin)
        }
    }
}

struct `Samples` {
    private static func hours(_ store: HealthStore) throws -> [HealthKind: [HourEntry]] {
        try `An import`.hours(store).filter { !$0.value.isEmpty }
    }

    @Test func `come to the same hours as an export of them`() async throws {
        let scratch = try Scratch()
        let text = exportText(
            [
                ("HKQuantityTypeIdentifierStepCount", "count", "09:10:00", "09:40:00", "900"),
                (
                    "HKQuantityTypeIdentifierDistanceWalkingRunning", "km", "09:10:00", "09:40:00",
                    "1.23456789"
                ),
                ("HKQuantityTypeIdentifierHeartRate", "count/min", "09:20:00", "09:20:00", "61.5"),
                (
                    "HKCategoryTypeIdentifierSleepAnalysis", "", "01:30:00", "02:45:00",
                    "HKCategoryValueSleepAnalysisAsleepCore"
                ),
                (
                    "HKCategoryTypeIdentifierSleepAnalysis", "", "02:45:00", "02:50:00",
                    "HKCategoryValueSleepAnalysisAwake"
                ),
                (
                    "HKCategoryTypeIdentifierSleepAnalysis", "", "01:00:00", "06:50:00",
                    "HKCategoryValueSleepAnalysisInBed"
                ),
            ].map { type, unit, start, end, value in
                "<Record type=\"\(type)\" unit=\"\(unit)\" sourceName=\"Watch\" "
                    + "startDate=\"2026-05-10 \(start) +0200\" endDate=\"2026-05-10 \(end) +0200\" "
                    + "value=\"\(value)\"/>"
            }.joined(separator: "\n"))
        let exported = try scratch.store("exported.sqlite")
        let file = try scratch.write(Array(text.utf8))
        _ = try await HealthImport(into: exported).run(file)

        func sample(
            _ type: String, _ value: HealthSample.Value, _ from: Double, _ to: Double
        ) throws -> HealthSample {
            HealthSample(
                id: UUID(), kind: try #require(HealthKind(typeIdentifier: type)), value: value,
                // An export does not contain parts of a second.
                start: MadeSamples.midnight.addingTimeInterval(from * 60 + 0.75),
                end: MadeSamples.midnight.addingTimeInterval(to * 60 + 0.75),
                source: MadeSamples.watch,
                timeZone: MadeSamples.berlin)
        }
        let samples = [
            try sample(
                "HKQuantityTypeIdentifierStepCount", .quantity(900, unit: "count"), 550, 580),
            try sample(
                "HKQuantityTypeIdentifierDistanceWalkingRunning", .quantity(1.23456789, unit: "km"),
                550, 580),
            try sample(
                "HKQuantityTypeIdentifierHeartRate", .quantity(61.5, unit: "count/min"), 560, 560),
            try sample("HKCategoryTypeIdentifierSleepAnalysis", .category(3), 90, 165),
            try sample("HKCategoryTypeIdentifierSleepAnalysis", .category(2), 165, 170),
            try sample("HKCategoryTypeIdentifierSleepAnalysis", .category(0), 60, 410),
        ]
        let store = try scratch.store()
        let report = try await store.insert(samples)
        #expect(report.added == 5 && report.ignored == 1 && report.bad == 0)
        #expect(report.change.kinds == [.steps, .distance, .heartRate, .sleep])
        #expect(report.change.days[.steps]?.contains(HealthDay("2026-05-10")!) == true)
        #expect(try Self.hours(store) == Self.hours(exported))
        // The second import changes nothing.
        let after = try await exported.insert(samples)
        #expect(after.added == 0 && after.known == 5 && after.change.isEmpty)
        let imported = try await HealthImport(into: store).run(file)
        #expect(imported.added == 0 && imported.known == 5)
        #expect(try Self.hours(store) == Self.hours(exported))
    }

    @Test(arguments: UInt64(0)..<12)
    func `in any order, in pages, again, and deleted early or late, come to what lives`(
        seed: UInt64
    ) async throws {
        var dice = TestDice(seed)
        let scratch = try Scratch()
        let samples = MadeSamples.some(300, days: 40, &dice)
        let deleted = Set(
            samples.filter { _ in Int.random(in: 0..<4, using: &dice) == 0 }.map(\.id))
        let plain = try scratch.store("plain.sqlite")
        _ = try await plain.insert(samples.filter { !deleted.contains($0.id) })

        let store = try scratch.store()
        enum Step { case insert(HealthSample), delete(UUID) }
        var steps = samples.map { Step.insert($0) } + deleted.map { Step.delete($0) }
        steps += samples.filter { _ in Int.random(in: 0..<5, using: &dice) == 0 }.map {
            .insert($0)
        }
        steps.shuffle(using: &dice)
        while !steps.isEmpty {
            let page = steps.prefix(Int.random(in: 1...60, using: &dice))
            steps.removeFirst(page.count)
            var inserted: [HealthSample] = []
            var ids: Set<UUID> = []
            for step in page {
                switch step {
                case .insert(let sample): inserted.append(sample)
                case .delete(let id): ids.insert(id)
                }
            }
            try await store.insert(inserted)
            try await store.delete(ids: ids)
        }
        #expect(try Self.hours(store) == Self.hours(plain), "seed \(seed)")
        let packed = try packed(store)
        #expect(try packed == self.packed(plain), "seed \(seed)")
        // After all samples are deleted, nothing is left.
        try await store.delete(ids: Set(samples.map(\.id)))
        #expect(try Self.hours(store).isEmpty)
        #expect(try self.packed(store).isEmpty)
    }

    /// Returns the identities of all stored measurements.
    private func packed(_ store: HealthStore) throws -> Set<UInt64> {
        try store.read { snapshot in
            let names = try NameTables(snapshot.db)
            var found: Set<UInt64> = []
            for kind in HealthKind.allCases {
                var stored = StoredMeasurements(
                    snapshot.db, kind: kind, sourceHashes: names.sourceHashes,
                    days: -1_000...100_000)
                while let sample = try stored.next() { found.insert(sample.identity) }
            }
            return found
        }
    }

    /// A record of 500 steps in a file.
    private static let export = Array(
        exportText(
            "<Record type=\"HKQuantityTypeIdentifierStepCount\" unit=\"count\" "
                + "sourceName=\"Watch\" startDate=\"2026-05-10 10:00:00 +0200\" "
                + "endDate=\"2026-05-10 10:10:00 +0200\" value=\"500\"/>"
        ).utf8)

    @Test func `that were deleted are not brought back by an older export`() async throws {
        let scratch = try Scratch()
        let store = try scratch.store()
        let sample = MadeSamples.steps(500, at: 600)
        let twin = MadeSamples.steps(500, at: 600)
        let file = try scratch.write(Self.export)
        try await store.insert([sample, twin])
        // The other sample is the same measurement and still holds it.
        let first = try await store.delete(ids: [sample.id])
        #expect(first.removed == 0)
        #expect(try Self.hours(store)[.steps]?.first?.sum == 500)
        let second = try await store.delete(ids: [twin.id])
        #expect(second.removed == 1 && second.change.kinds == [.steps])
        let report = try await HealthImport(into: store).run(file)
        #expect(report.added == 0)
        #expect(try Self.hours(store).isEmpty)
        // The source may record the measurement again.
        let again = try await store.insert([MadeSamples.steps(500, at: 600)])
        #expect(again.added == 1)
        _ = try await HealthImport(into: store).run(file)
        #expect(try Self.hours(store)[.steps]?.first?.sum == 500)
    }

    @Test func `that were deleted before they came take along what an import brought`() async throws
    {
        let scratch = try Scratch()
        let store = try scratch.store()
        let file = try scratch.write(Self.export)
        _ = try await HealthImport(into: store).run(file)
        let sample = MadeSamples.steps(500, at: 600)
        try await store.delete(ids: [sample.id])
        #expect(try Self.hours(store)[.steps]?.count == 1)
        let report = try await store.insert([sample])
        #expect(report.ignored == 1 && report.removed == 1)
        #expect(try Self.hours(store).isEmpty)
    }

    @Test func `that are bad are left out and listed`() async throws {
        let scratch = try Scratch()
        let store = try scratch.store()
        func made(
            _ kind: HealthKind, _ value: HealthSample.Value, _ length: TimeInterval = 0
        ) -> HealthSample {
            HealthSample(
                id: UUID(), kind: kind, value: value, start: MadeSamples.midnight,
                end: MadeSamples.midnight.addingTimeInterval(length), source: MadeSamples.watch)
        }
        let bad: [(HealthSample, BadRecord.Reason)] = [
            (made(.steps, .quantity(-1, unit: "count")), .badValue),
            (made(.steps, .quantity(.nan, unit: "count")), .badValue),
            (made(.steps, .category(1)), .badValue),
            (made(.steps, .quantity(1, unit: "kg")), .badUnit),
            (made(.sleep, .category(17)), .badValue),
            (made(.steps, .quantity(1, unit: "count"), -5), .endsBeforeItStarts),
            (made(.steps, .quantity(1, unit: "count"), 700_000), .lastsTooLong),
            (
                HealthSample(
                    id: UUID(), kind: .steps, value: .quantity(1, unit: "count"),
                    start: .distantFuture, source: MadeSamples.watch), .outOfRange
            ),
        ]
        let report = try await store.insert(
            bad.map(\.0) + [made(.weight, .quantity(150, unit: "lb"))])
        #expect(report.bad == bad.count && report.added == 1)
        for (sample, reason) in bad { #expect(report.badSamples[sample.id] == reason) }
        let weight = try #require(try Self.hours(store)[.weight]?.first?.last)
        #expect(abs(weight - 68.038855) < 0.000_001)
    }

    @Test func `years apart do not cost the years between them`() async throws {
        let scratch = try Scratch()
        let store = try scratch.store()
        var dice = TestDice(5)
        // There is one hour on each day of a year.
        try await store.insert((0..<365).map { MadeSamples.steps(100, at: Double($0) * -1_440) })
        let pair = [
            MadeSamples.steps(1, at: 700), MadeSamples.steps(1, at: 700 - 364 * 1_440),
        ].shuffled(using: &dice)
        let changes = try store.write { db in
            let start = try #require(try db.integer("SELECT total_changes()"))
            var merge = try SampleMerge(db, priority: SourcePriority())
            try merge.insert(pair)
            return try #require(try db.integer("SELECT total_changes()")) - start
        }
        #expect(changes < 60, "it wrote \(changes) rows")
    }

    @Test func `names that others have stored meanwhile keep their numbers`() throws {
        let scratch = try Scratch()
        let store = try scratch.store()
        var file = NameTables()
        _ = file.number(of: MadeSamples.phone)
        _ = file.number(of: MadeSamples.watch)
        _ = file.zone(named: "Asia/Manila")
        var others = NameTables()
        _ = others.number(of: MadeSamples.watch)
        _ = others.zone(named: "Europe/Berlin")
        let (mine, theirs) = (file, others)
        try store.write { try theirs.save($0) }
        let numbers = try store.write { try NameNumbers(mine, in: $0) }
        let names = try store.write { try NameTables($0) }
        let sample = PackedSample(
            kind: .steps, start: 0, duration: 1, value: 1, source: 0,
            sourceHash: MadeSamples.phone.hash, zone: 1, startOffset: 0, endOffset: 0)
        let translated = numbers.translated(sample)
        #expect(names.sources[Int(translated.source)] == MadeSamples.phone)
        #expect(names.zones[Int(translated.zone)] == "Asia/Manila")
        #expect(translated.identity == sample.identity)
    }
}
