import TidemarkStore

/// The origin of a row of the table `hour`. Raw values are stored and never reused.
enum HourOrigin: Int64 {
    /// The row was computed from this device's measurements.
    case measured = 0
    /// The row is from the server, where another device of the user has stored it.
    case received = 1
    /// The row is from the store that the app had before.
    case brought = 2
}

/// Hours that were not computed from measurements. They fill gaps of this device: an hour of
/// measurements that begins less than an hour before or after such an hour replaces it.
enum OtherHours {
    static func exist(_ db: HealthConnection, kind: HealthKind, starts: Range<Int64>) throws
        -> Bool
    {
        try db.integer(
            """
            SELECT EXISTS (
                SELECT 1 FROM hour WHERE kind = ? AND start > ? AND start < ? AND origin > 0)
            """, [Int64(kind.rawValue), starts.lowerBound - 3_600, starts.upperBound + 3_600]) == 1
    }

    static func removal(_ db: HealthConnection) throws -> RawStatement {
        try RawStatement(
            db, "DELETE FROM hour WHERE kind = ? AND start > ? AND start < ? AND origin > 0")
    }

    static func remove(beside entry: HourEntry, _ statement: RawStatement) throws {
        statement.bind(1, Int64(entry.kind.rawValue))
        statement.bind(2, entry.start - 3_600)
        statement.bind(3, entry.start + 3_600)
        try statement.run()
    }

    /// Stores an hour, unless an hour of higher rank exists.
    ///
    /// - Returns: True if a row changed.
    @discardableResult
    static func put(
        _ entry: HourEntry, _ origin: HourOrigin, zone: Int64, in db: HealthConnection
    ) throws -> Bool {
        // Received hours rank below hours of the app's older store, and both rank below measured
        // hours.
        let stronger = origin == .received ? "origin <> 1" : "origin = 0"
        let isTaken = try db.integer(
            """
            SELECT EXISTS (
                SELECT 1 FROM hour WHERE kind = ? AND day BETWEEN ? AND ?
                    AND start > ? AND start < ? AND \(stronger))
            """,
            [
                Int64(entry.kind.rawValue), entry.day.number - 1, entry.day.number + 1,
                entry.start - 3_600, entry.start + 3_600,
            ])
        if isTaken == 1 { return false }
        let values: [Int64] = [
            Int64(entry.kind.rawValue), entry.day.number, entry.start, Int64(entry.offset), zone,
            entry.sumMillionths, Int64(entry.count), entry.minMillionths, entry.maxMillionths,
            entry.lastMillionths, entry.lastTime, origin.rawValue,
        ]
        let isKnown = try db.row(
            "SELECT * FROM hour WHERE kind = ? AND day = ? AND start = ? AND offset = ?",
            Array(values.prefix(4))
        ) { row in values.indices.allSatisfy { row.integer(Int32($0)) == values[$0] } }
        if isKnown == true { return false }
        if origin == .brought {
            try db.execute(
                "DELETE FROM hour WHERE kind = ? AND start > ? AND start < ? AND origin > 0",
                [Int64(entry.kind.rawValue), entry.start - 3_600, entry.start + 3_600])
        }
        try db.execute(
            "INSERT OR REPLACE INTO hour VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", values)
        return true
    }
}

/// The measurements of a kind that their source has deleted, and that no other sample contains.
struct DeletedMeasurements {
    private let db: HealthConnection
    private let kind: HealthKind
    /// A page in the order of start and identity; the entries before `place` are done.
    private var page: [(start: Int64, identity: Int64)] = []
    private var place = 0
    private var last: (start: Int64, identity: Int64)
    private var isDone = false

    private static let pageSize = 512

    init(_ db: HealthConnection, kind: HealthKind, from start: Int64) {
        self.db = db
        self.kind = kind
        last = (start - 1, .max)
    }

    /// - Parameter sample: A sample whose start is at or after the start of the previous one.
    mutating func contains(_ sample: PackedSample) throws -> Bool {
        while true {
            if place == page.count {
                if isDone { return false }
                try fetch()
                continue
            }
            if page[place].start >= sample.start { break }
            place += 1
        }
        let identity = Int64(bitPattern: sample.identity)
        var next = place
        while true {
            if next == page.count {
                if isDone { return false }
                // The entries of a start must all be in memory, because their order here differs.
                try fetch(keepingFrom: place)
                next -= place
                place = 0
                continue
            }
            if page[next].start != sample.start { return false }
            if page[next].identity == identity { return true }
            next += 1
        }
    }

    private mutating func fetch(keepingFrom kept: Int? = nil) throws {
        let found = try db.rows(
            """
            SELECT start, identity FROM sample AS gone
            WHERE kind = ? AND isDeleted = 1 AND (start, identity) > (?, ?)
                AND NOT EXISTS (
                    SELECT 1 FROM sample AS other
                    WHERE other.identity = gone.identity AND other.isDeleted = 0)
            ORDER BY start, identity LIMIT \(Self.pageSize)
            """, [Int64(kind.rawValue), last.start, last.identity]
        ) { (start: $0.integer(0), identity: $0.integer(1)) }
        isDone = found.count < Self.pageSize
        if let end = found.last { last = end }
        page = (kept.map { Array(page[$0...]) } ?? []) + found
        if kept == nil { place = 0 }
    }
}
