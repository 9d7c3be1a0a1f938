public import Foundation
import TidemarkStore

/// The result of ``HealthStore/insert(_:priority:)`` and of similar functions.
public struct HealthStoreReport: Hashable, Sendable {
    /// The number of new measurements.
    public internal(set) var added = 0
    /// The number of samples whose measurement was present already, or that were inserted before.
    public internal(set) var known = 0
    /// The number of removed measurements.
    public internal(set) var removed = 0
    /// The number of ignored samples: time in bed, and samples that were deleted before they
    /// arrived.
    public internal(set) var ignored = 0
    public internal(set) var bad = 0
    /// The first hundred bad samples, and why each was left out.
    public internal(set) var badSamples: [UUID: BadRecord.Reason] = [:]
    public internal(set) var change = HealthChange()

    public init() {}

    mutating func add(_ other: HealthStoreReport) {
        added += other.added
        known += other.known
        removed += other.removed
        ignored += other.ignored
        bad += other.bad
        for (id, reason) in other.badSamples where badSamples.count < ExportCounts.maxBadRecords {
            badSamples[id] = reason
        }
        change.formUnion(other.change)
    }
}

/// A transaction that adds or removes samples by their ids.
struct SampleMerge {
    private let db: HealthConnection
    private let priority: SourcePriority
    private(set) var names: NameTables
    private(set) var report = HealthStoreReport()

    /// The gap that separates measurements into independent merges, so two samples years apart do
    /// not cost the years between them.
    private static let gap: Int64 = 8 * 86_400

    init(_ db: HealthConnection, priority: SourcePriority) throws {
        self.db = db
        self.priority = priority
        names = try NameTables(db)
    }

    mutating func insert(_ samples: [HealthSample]) throws {
        var packed: [PackedSample] = []
        var gone: [PackedSample] = []
        let known = (names.sources.count, names.zones.count)
        let insertion = try RawStatement(db, "INSERT OR FAIL INTO sample VALUES (?, ?, ?, ?, 0)")
        for sample in samples {
            switch sample.packed(&names) {
            case .sample(let made):
                if try insert(made, id: sample.id, insertion) {
                    packed.append(made)
                } else {
                    try noteAgain(made, id: sample.id, gone: &gone)
                }
            case .ignored: report.ignored += 1
            case .bad(let reason):
                report.bad += 1
                if report.badSamples.count < ExportCounts.maxBadRecords {
                    report.badSamples[sample.id] = reason
                }
            }
        }
        if (names.sources.count, names.zones.count) != known { try names.save(db) }
        try merge(packed)
        for sample in gone {
            try remove(kind: sample.kind, start: sample.start, identities: [sample.identity])
        }
    }

    /// Stores the meaning of the id permanently.
    ///
    /// - Returns: False if the id is known.
    private func insert(
        _ sample: PackedSample, id: UUID, _ statement: RawStatement
    ) throws -> Bool {
        statement.bind(1, id.bits)
        statement.bind(2, Int64(bitPattern: sample.identity))
        statement.bind(3, Int64(sample.kindNumber))
        statement.bind(4, sample.start)
        return try statement.runUnlessInConflict()
    }

    /// Counts a sample whose id is known.
    private mutating func noteAgain(
        _ sample: PackedSample, id: UUID, gone: inout [PackedSample]
    ) throws {
        let isDeleted = try db.integer("SELECT isDeleted FROM sample WHERE id = ?", [id.bits])
        guard isDeleted != 0 else {
            report.known += 1
            return
        }
        // The sample was deleted before it arrived; an import can have brought the measurement.
        report.ignored += 1
        let identity = Int64(bitPattern: sample.identity)
        try db.execute(
            "UPDATE sample SET identity = ?, kind = ?, start = ? WHERE id = ?",
            [identity, Int64(sample.kindNumber), sample.start, id.bits])
        if try !isHeld(identity) { gone.append(sample) }
    }

    mutating func delete(_ ids: some Sequence<UUID>) throws {
        var gone: [HealthKind: [(start: Int64, identity: UInt64)]] = [:]
        for id in ids {
            let row = try db.row(
                "SELECT identity, kind, start, isDeleted FROM sample WHERE id = ?", [id.bits]
            ) { row in
                (
                    identity: row.integer(0), kind: HealthKind(number: row.integer(1)),
                    start: row.integer(2), isDeleted: row.integer(3) != 0
                )
            }
            guard let row else {
                try db.execute("INSERT INTO sample VALUES (?, 0, 0, 0, 1)", [id.bits])
                continue
            }
            if row.isDeleted { continue }
            try db.execute("UPDATE sample SET isDeleted = 1 WHERE id = ?", [id.bits])
            guard let kind = row.kind, try !isHeld(row.identity) else { continue }
            gone[kind, default: []].append((row.start, UInt64(bitPattern: row.identity)))
        }
        for (kind, measurements) in gone {
            var rest = measurements.sorted { $0.start < $1.start }[...]
            while let first = rest.first {
                var last = first.start
                let group = rest.prefix { measurement in
                    defer { last = measurement.start }
                    return measurement.start - last <= Self.gap
                }
                rest = rest.dropFirst(group.count)
                try remove(
                    kind: kind, start: first.start, last: group.last?.start,
                    identities: Set(group.map(\.identity)))
            }
        }
    }

    func save(_ anchor: HealthAnchor, of kind: HealthKind) throws {
        try db.execute(
            "INSERT OR REPLACE INTO anchor VALUES (?, ?)",
            values: [.integer(Int64(kind.rawValue)), .blob([UInt8](anchor.data))])
    }

    /// Returns true if a sample that was not deleted is the same measurement.
    private func isHeld(_ identity: Int64) throws -> Bool {
        try db.integer(
            "SELECT EXISTS (SELECT 1 FROM sample WHERE identity = ? AND isDeleted = 0)",
            [identity]) == 1
    }

    /// Samples of a file, by the numbers of its names.
    mutating func merge(_ samples: [PackedSample], named fileNames: NameTables) throws {
        let numbers = try NameNumbers(fileNames, in: db)
        names = try NameTables(db)
        try merge(samples.map(numbers.translated))
    }

    private mutating func merge(_ samples: [PackedSample]) throws {
        var rest = samples.sorted(by: PackedSample.isBefore)[...]
        while let first = rest.first {
            var end = first.end
            let group = rest.prefix { sample in
                guard sample.kindNumber == first.kindNumber, sample.start - end <= Self.gap else {
                    return false
                }
                end = max(end, sample.end)
                return true
            }
            rest = rest.dropFirst(group.count)
            var merge = try MeasurementMerge(
                db, kind: first.kind, extent: first.start..<end, names: names, priority: priority)
            var previous: PackedSample?
            for sample in group {
                if let previous, previous.isSame(as: sample) {
                    report.known += 1
                } else {
                    try merge.add(sample)
                }
                previous = sample
            }
            try finish(&merge)
        }
    }

    private mutating func remove(
        kind: HealthKind, start: Int64, last: Int64? = nil, identities: Set<UInt64>
    ) throws {
        // The duration is unknown before the measurement is found.
        let length = kind.aggregation == .amount ? PackedSample.maxDuration : 1
        var merge = try MeasurementMerge(
            db, kind: kind, extent: start..<(max(start, last ?? start) + length), names: names,
            priority: priority, removing: identities)
        try finish(&merge)
    }

    private mutating func finish(_ merge: inout MeasurementMerge) throws {
        try merge.finish()
        report.added += merge.added
        report.known += merge.known
        report.removed += merge.removed
        if merge.changedDays.isEmpty { return }
        try HealthStore.note(merge.changedDays, in: db)
        report.change.add(merge.kind, merge.changedDays)
    }
}

extension UUID {
    /// The exclusive or of both halves. The bits are random in HealthKit's ids.
    fileprivate var bits: Int64 {
        withUnsafeBytes(of: uuid) { bytes in
            Int64(
                bitPattern: bytes.loadUnaligned(as: UInt64.self)
                    ^ bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        }
    }
}

extension NameTables {
    /// The numbers that are in use.
    init(_ db: HealthConnection) throws {
        let sources = try db.rows("SELECT name, device FROM source ORDER BY number") { row in
            HealthSource(
                name: row.text(0), device: HealthSource.Device(number: row.integer(1)) ?? .other)
        }
        let zones = try db.rows("SELECT name FROM zone ORDER BY number") { $0.text(0) }
        self.init(sources: sources, zones: [""] + zones)
    }

    func save(_ db: HealthConnection) throws {
        for (number, source) in sources.enumerated() {
            try db.execute(
                "INSERT OR IGNORE INTO source (number, name, device) VALUES (?, ?, ?)",
                values: [
                    .integer(Int64(number)), .text(source.name),
                    .integer(Int64(source.device.rawValue)),
                ])
        }
        for (number, zone) in zones.enumerated().dropFirst() {
            try db.execute(
                "INSERT OR IGNORE INTO zone (number, name) VALUES (?, ?)",
                values: [.integer(Int64(number)), .text(zone)])
        }
    }
}
