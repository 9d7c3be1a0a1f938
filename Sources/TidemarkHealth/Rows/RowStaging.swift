import TidemarkStore

/// Sorts rows on the disk before they are stored. Rows arrive in any order, and there can be a
/// million.
struct RowStaging {
    private let db: HealthConnection
    private let insert: RawStatement
    private var sources: [HealthSource] = []
    private var numbers: [HealthSource: Int] = [:]
    private var report = HourlyRows.Report()

    init(_ db: HealthConnection) throws {
        self.db = db
        try db.script(
            """
            DROP TABLE IF EXISTS temp.row;
            CREATE TEMP TABLE row (
                kind INTEGER, hour INTEGER, offset INTEGER, source INTEGER, start INTEGER,
                end INTEGER, value INTEGER,
                PRIMARY KEY (kind, hour, offset, source, start, end, value)
            ) WITHOUT ROWID;
            """)
        insert = try RawStatement(
            db, "INSERT OR IGNORE INTO temp.row VALUES (?, ?, ?, ?, ?, ?, ?)")
    }

    mutating func add(_ fields: RowFields?, line: Int, reader: RowReader) throws {
        let row: HourlyRow
        do throws(RowReader.Refusal) { row = try reader.row(fields) } catch {
            return refuse(line, reason: error.reason, text: error.text)
        }
        let number = numbers[row.source] ?? sources.count
        if number == sources.count {
            guard number < NameTables.maxSources else {
                return refuse(line, reason: .tooManySources)
            }
            numbers[row.source] = number
            sources.append(row.source)
        }
        report.rows += 1
        insert.bind(1, Int64(row.kind.rawValue))
        insert.bind(2, row.hour)
        insert.bind(3, Int64(row.offset))
        insert.bind(4, Int64(number))
        insert.bind(5, row.start)
        insert.bind(6, row.end)
        insert.bind(7, row.value)
        try insert.run()
    }

    mutating func refuse(_ line: Int, reason: BadRecord.Reason, text: String? = nil) {
        report.rows += 1
        report.bad += 1
        guard report.badRows.count < ExportCounts.maxBadRecords else { return }
        report.badRows.append(
            HourlyRows.BadRow(
                line: line, reason: reason, text: text.map { BadRecord.shown($0) }))
    }

    /// Makes hours from the rows, and stores those that were not measured here.
    mutating func fold(_ priority: SourcePriority) throws -> HourlyRows.Report {
        let ranks = priority.ranks(sources)
        var entry: HourEntry?
        // The source of the amount that counts so far.
        var chosen = Int.max
        try db.forEachRow(
            "SELECT * FROM temp.row ORDER BY kind, hour, offset, source, start"
        ) { row in
            guard let kind = HealthKind(number: row.integer(0)) else { return }
            let (hour, offset, source) = (row.integer(1), Int(row.integer(2)), Int(row.integer(3)))
            if entry?.kind != kind || entry?.start != hour || entry?.offset != offset {
                try keep(entry)
                entry = HourEntry(kind: kind, start: hour, offset: offset)
                chosen = source
            }
            let (end, value) = (row.integer(5), row.integer(6))
            if kind.aggregation == .reading {
                entry?.add(reading: value, at: max(row.integer(4), end - 1))
                return
            }
            if source != chosen {
                if ranks[source] > ranks[chosen] { return }
                entry = HourEntry(kind: kind, start: hour, offset: offset)
                chosen = source
            }
            entry?.add(amount: value, until: end)
        }
        try keep(entry)
        for days in report.change.days.values { try HealthStore.note(days, in: db) }
        try db.execute("DROP TABLE temp.row")
        return report
    }

    private mutating func keep(_ entry: HourEntry?) throws {
        guard let entry else { return }
        if try OtherHours.put(entry, .brought, zone: 0, in: db) {
            report.added += 1
            report.change.add(entry.kind, [entry.day])
        } else {
            report.known += 1
        }
    }
}
