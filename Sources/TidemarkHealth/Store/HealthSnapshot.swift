import TidemarkStore

/// The state of the store at one moment. Every read has a limit.
public struct HealthSnapshot {
    let db: HealthConnection

    private static let columns =
        "hour.start, hour.offset, zone.name, sum, count, minimum, maximum, last, lastTime"

    /// The hours of some local days, oldest first: at most 25 for each day, kind and zone.
    public func entries(
        _ kind: HealthKind, days: ClosedRange<HealthDay>
    ) throws -> [HourEntry] {
        try rows(
            kind,
            condition: "day BETWEEN ? AND ? ORDER BY day, start, offset",
            arguments: [days.lowerBound.number, days.upperBound.number])
    }

    /// The newest hours of one kind, newest first.
    ///
    /// - Parameters:
    ///   - kind: The kind of the hours.
    ///   - limit: The maximum number of hours; at least 1.
    ///   - since: The earliest start of an hour, in seconds since 1970.
    public func latest(_ kind: HealthKind, limit: Int, since: Int64 = .min) throws -> [HourEntry] {
        precondition(limit > 0)
        // The condition on the day limits the search, because rows are sorted by day: no zone is a
        // whole day from UTC. Without it, the search for missing hours would go back to the first
        // day.
        let day = HealthDay(seconds: since, offset: 0).number - 1
        return try rows(
            kind,
            condition:
                "day >= ? AND start >= ? ORDER BY day DESC, start DESC, offset DESC LIMIT \(limit)",
            arguments: [day, since])
    }

    private func rows(
        _ kind: HealthKind, condition: String, arguments: [Int64]
    ) throws -> [HourEntry] {
        try db.rows(
            """
            SELECT \(Self.columns) FROM hour LEFT JOIN zone ON zone.number = hour.zone
            WHERE kind = ? AND \(condition)
            """, [Int64(kind.rawValue)] + arguments
        ) { row in
            var entry = HourEntry(
                kind: kind, start: row.integer(0), offset: Int(row.integer(1)))
            entry.zone = row.isNull(2) ? nil : row.text(2)
            entry.sumMillionths = row.integer(3)
            entry.count = Int(row.integer(4))
            entry.minMillionths = row.integer(5)
            entry.maxMillionths = row.integer(6)
            entry.lastMillionths = row.integer(7)
            entry.lastTime = row.integer(8)
            return entry
        }
    }

    /// The totals of some local days, oldest first, without days that have no data.
    public func totals(
        _ kind: HealthKind, days: ClosedRange<HealthDay>
    ) throws -> [DayTotal] {
        try db.rows(
            """
            SELECT day, sum(sum), sum(count), min(minimum), max(maximum) FROM hour
            WHERE kind = ? AND day BETWEEN ? AND ? GROUP BY day ORDER BY day
            """, [Int64(kind.rawValue), days.lowerBound.number, days.upperBound.number]
        ) { row in
            DayTotal(
                kind: kind, day: HealthDay(number: row.integer(0)),
                sumMillionths: row.integer(1), count: Int(row.integer(2)),
                minMillionths: row.integer(3), maxMillionths: row.integer(4))
        }
    }

    /// Returns the local days in the range with an hour that did not come from the server. This
    /// device can send these days.
    public func ownDays(in days: ClosedRange<HealthDay>) throws -> Set<HealthDay> {
        var found: Set<HealthDay> = []
        for kind in HealthKind.allCases {
            let numbers = try db.rows(
                """
                SELECT DISTINCT day FROM hour
                WHERE kind = ? AND day BETWEEN ? AND ? AND origin <> 1
                """, [Int64(kind.rawValue), days.lowerBound.number, days.upperBound.number]
            ) { $0.integer(0) }
            found.formUnion(numbers.map(HealthDay.init(number:)))
        }
        return found
    }

    /// The first and the last of the days that this device can send; nil if there are none.
    public func ownDays() throws -> ClosedRange<HealthDay>? {
        var found: ClosedRange<HealthDay>?
        for kind in HealthKind.allCases {
            let edges = try ["", "DESC"].map { order in
                try db.integer(
                    """
                    SELECT day FROM hour WHERE kind = ? AND origin <> 1
                    ORDER BY day \(order) LIMIT 1
                    """, [Int64(kind.rawValue)])
            }
            guard let first = edges[0], let last = edges[1] else { continue }
            found = Self.joined(found, HealthDay(number: first)...HealthDay(number: last))
        }
        return found
    }

    private static func joined(
        _ found: ClosedRange<HealthDay>?, _ days: ClosedRange<HealthDay>
    ) -> ClosedRange<HealthDay> {
        guard let found else { return days }
        return min(found.lowerBound, days.lowerBound)...max(found.upperBound, days.upperBound)
    }

    /// The first and the last local day of a kind, or of all kinds; nil if there is no data.
    public func days(_ kind: HealthKind? = nil) throws -> ClosedRange<HealthDay>? {
        var found: ClosedRange<HealthDay>?
        for kind in kind.map({ [$0] }) ?? HealthKind.allCases {
            let edges = try ["min", "max"].map { edge in
                try db.integer(
                    "SELECT \(edge)(day) FROM hour WHERE kind = ?", [Int64(kind.rawValue)])
            }
            guard let first = edges[0], let last = edges[1] else { continue }
            found = Self.joined(found, HealthDay(number: first)...HealthDay(number: last))
        }
        return found
    }
}

/// The total of a local day.
public struct DayTotal: Hashable, Sendable {
    public let kind: HealthKind
    public let day: HealthDay
    package let sumMillionths: Int64
    /// Readings; 0 for an amount.
    public let count: Int
    package let minMillionths: Int64
    package let maxMillionths: Int64

    /// The sum in the kind's unit.
    public var sum: Double { Double(sumMillionths) / 1_000_000 }
    public var mean: Double? { count > 0 ? sum / Double(count) : nil }
    public var minimum: Double? { count > 0 ? Double(minMillionths) / 1_000_000 : nil }
    public var maximum: Double? { count > 0 ? Double(maxMillionths) / 1_000_000 : nil }
    /// The amount, or the mean of the readings.
    public var value: Double { mean ?? sum }
}
