import Foundation
import TidemarkStore

/// Merges sorted samples of one kind into the store. New measurements are added, deleted ones are
/// removed, and each affected hour is computed again from all its measurements.
struct MeasurementMerge {
    let db: HealthConnection
    let kind: HealthKind
    let names: NameTables
    /// The identities of measurements that are not kept unchanged.
    private struct Exceptions {
        let removing: Set<UInt64>
        let replaceable: Set<UInt64>
    }

    /// The starts of the hours that can change.
    private let starts: Range<Int64>
    private var builder: EntryBuilder
    private var stored: StoredMeasurements
    private var day: [PackedSample] = []
    private var dayNumber = Int64.min
    private var dayIsNew = false
    private let insertDay: RawStatement
    private let insertHour: RawStatement
    private let zoneNumbers: [String: Int64]
    private var deleted: DeletedMeasurements
    private let exceptions: Exceptions
    /// Removes hours that were not made from measurements if an hour of measurements replaces them;
    /// nil if there are no such hours.
    private let removeOthers: RawStatement?
    /// The number of measurements that the store did not have.
    private(set) var added = 0
    private(set) var known = 0
    private(set) var removed = 0
    /// The local days whose hours can have changed: the days of changed measurements, and one more
    /// day at either side, because of time zones.
    private(set) var changedDays: Set<HealthDay> = []
    /// True if a measurement was added or removed, or was replaced by a form with more information.
    var changesStore: Bool { !changedDays.isEmpty }
    private var lastChanged: ClosedRange<Int64>?

    /// - Parameters:
    ///   - extent: The range of seconds that contains the new samples and the removed ones.
    ///   - removing: The identities of the measurements to remove.
    ///   - replaceable: The identities of measurements that the same file has just stored. If the
    ///     file has two forms of such a measurement, the better form is kept, independent of their
    ///     order.
    init(
        _ db: HealthConnection, kind: HealthKind, extent: Range<Int64>, names: NameTables,
        priority: SourcePriority, removing: Set<UInt64> = [], replaceable: Set<UInt64> = []
    ) throws {
        self.db = db
        self.kind = kind
        self.names = names
        starts = (extent.lowerBound - 3_599)..<extent.upperBound
        builder = EntryBuilder(
            kind: kind, ranks: priority.ranks(names.sources), zones: names.zones)
        exceptions = Exceptions(removing: removing, replaceable: replaceable)
        deleted = DeletedMeasurements(db, kind: kind, from: extent.lowerBound)
        // The hour of an amount depends on overlapping measurements. No measurement lasts longer
        // than a week.
        let reach = kind.aggregation == .amount ? PackedSample.maxDuration : 0
        stored = StoredMeasurements(
            db, kind: kind, sourceHashes: names.sourceHashes,
            days: (starts.lowerBound - reach).flooredDivision(
                by: 86_400)...(starts.upperBound + 3_600).flooredDivision(by: 86_400))
        insertDay = try RawStatement(
            db, "INSERT OR REPLACE INTO measurements (kind, day, samples) VALUES (?, ?, ?)")
        insertHour = try RawStatement(
            db, "INSERT OR REPLACE INTO hour VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)")
        removeOthers =
            try OtherHours.exist(db, kind: kind, starts: starts) ? OtherHours.removal(db) : nil
        zoneNumbers = Dictionary(
            uniqueKeysWithValues: names.zones.enumerated().map { ($0.element, Int64($0.offset)) })
        // The condition on the day uses the table's order. With any offset, the hours of a range
        // lie in its days and one day at either side.
        try db.execute(
            """
            DELETE FROM hour
            WHERE kind = ? AND day BETWEEN ? AND ? AND start >= ? AND start < ? AND origin = 0
            """,
            [
                Int64(kind.rawValue), starts.lowerBound.flooredDivision(by: 86_400) - 1,
                starts.upperBound.flooredDivision(by: 86_400) + 1, starts.lowerBound,
                starts.upperBound,
            ])
    }

    /// Adds a sample. The samples must be in order, and each must occur once.
    ///
    /// - Parameter sample: The next sample.
    mutating func add(_ sample: PackedSample) throws {
        // A deleted measurement stays deleted, even if an older export contains it.
        if try deleted.contains(sample) { return }
        while let old = try stored.peek(),
            !PackedSample.isBefore(sample, old) || old.isSame(as: sample)
        {
            _ = try stored.next()
            if old.isSame(as: sample) {
                known += 1
                // The stored form stays, because an export from another zone must not move a
                // measurement to another day. The exception is a stored form without a zone, if the
                // new form has one.
                let isBetter =
                    exceptions.replaceable.contains(old.identity)
                    ? sample.isPreferred(to: old) : old.zone == 0 && sample.zone != 0
                try place(isBetter ? sample : old, isNew: isBetter)
                return
            }
            try place(old, isNew: false)
        }
        added += 1
        try place(sample, isNew: true)
    }

    mutating func finish() throws {
        while let old = try stored.next() { try place(old, isNew: false) }
        try write(builder.finish())
        try writeDay()
    }

    private static func day(_ sample: PackedSample) -> Int64 {
        sample.start.flooredDivision(by: 86_400)
    }

    private mutating func place(_ sample: PackedSample, isNew: Bool) throws {
        let number = Self.day(sample)
        if number != dayNumber {
            try writeDay()
            dayNumber = number
        }
        let isRemoved = !isNew && exceptions.removing.contains(sample.identity)
        if isRemoved { removed += 1 } else { day.append(sample) }
        if isNew || isRemoved {
            dayIsNew = true
            let last = (sample.end - 1).flooredDivision(by: 86_400)
            if number...last != lastChanged {
                lastChanged = number...last
                for day in (number - 1)...(last + 1) { changedDays.insert(HealthDay(number: day)) }
            }
        }
        if !isRemoved { try write(builder.add(sample)) }
    }

    private mutating func writeDay() throws {
        if dayIsNew, day.isEmpty {
            try db.execute(
                "DELETE FROM measurements WHERE kind = ? AND day = ?",
                [Int64(kind.rawValue), dayNumber])
        } else if dayIsNew {
            insertDay.bind(1, Int64(kind.rawValue))
            insertDay.bind(2, dayNumber)
            try insertDay.run(3, blob: SampleCoding.encode(day))
        }
        day.removeAll(keepingCapacity: true)
        dayIsNew = false
    }

    private func write(_ entries: [HourEntry]) throws {
        for entry in entries where starts.contains(entry.start) {
            let zone = entry.zone.flatMap { zoneNumbers[$0] } ?? 0
            if let removeOthers { try OtherHours.remove(beside: entry, removeOthers) }
            let values = (
                entry.day.number, entry.start, Int64(entry.offset), zone, entry.sumMillionths,
                Int64(entry.count), entry.minMillionths, entry.maxMillionths,
                entry.lastMillionths, entry.lastTime
            )
            insertHour.bind(1, Int64(kind.rawValue))
            insertHour.bind(2, values.0)
            insertHour.bind(3, values.1)
            insertHour.bind(4, values.2)
            insertHour.bind(5, values.3)
            insertHour.bind(6, values.4)
            insertHour.bind(7, values.5)
            insertHour.bind(8, values.6)
            insertHour.bind(9, values.7)
            insertHour.bind(10, values.8)
            insertHour.bind(11, values.9)
            try insertHour.run()
        }
    }
}

/// Reads the measurements of one kind day by day. Each day is a separate query, so a write does not
/// disturb the next read.
struct StoredMeasurements {
    private let db: HealthConnection
    private let kind: HealthKind
    private let sourceHashes: [UInt64]
    private var days: ClosedRange<Int64>
    private var isDone = false
    private var samples: [PackedSample] = []
    private var place = 0

    init(_ db: HealthConnection, kind: HealthKind, sourceHashes: [UInt64], days: ClosedRange<Int64>)
    {
        self.db = db
        self.kind = kind
        self.sourceHashes = sourceHashes
        self.days = days
    }

    mutating func peek() throws -> PackedSample? {
        if place == samples.count { try fetch() }
        return place < samples.count ? samples[place] : nil
    }

    mutating func next() throws -> PackedSample? {
        guard let sample = try peek() else { return nil }
        place += 1
        return sample
    }

    private mutating func fetch() throws {
        while !isDone {
            let row = try db.row(
                """
                SELECT day, samples FROM measurements
                WHERE kind = ? AND day BETWEEN ? AND ? ORDER BY day LIMIT 1
                """, [Int64(kind.rawValue), days.lowerBound, days.upperBound]
            ) { row in
                let found = SampleCoding.decode(
                    row.bytes(1), kind: kind, sourceHashes: sourceHashes)
                return (day: row.integer(0), samples: found)
            }
            guard let row else {
                isDone = true
                return
            }
            let day = row.day
            guard let found = row.samples else {
                throw HealthExportError.storage(detail: "a day of measurements is damaged")
            }
            samples = found
            place = 0
            if day >= days.upperBound { isDone = true } else { days = (day + 1)...days.upperBound }
            if !samples.isEmpty { return }
        }
    }
}
