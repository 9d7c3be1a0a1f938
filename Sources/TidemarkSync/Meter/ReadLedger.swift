import TidemarkModel

/// The reads that are not on disk yet, and what each of the last days came to: kept in memory so that
/// a budget can be looked at before every read.
struct ReadLedger: Equatable, Sendable {
    /// Older ones are forgotten.
    static let daysKept = 35
    /// Of a day. Beyond, reads are counted by their cause under ``overflow``.
    static let rowsPerDay = 500
    static let overflow = "other labels"
    /// A longer name is cut off.
    static let longestName = 100

    private(set) var unsaved: [ReadRow.Name: ReadCount] = [:]
    /// Of the newest days that were counted, all rows.
    private(set) var days: [BillingDay: [ReadRow.Name: ReadCount]] = [:]
    /// When it was last written, by the engine's clock.
    var savedAt: Duration?

    func knows(_ day: BillingDay) -> Bool { days[day] != nil }

    /// What the disk has of a day.
    mutating func load(_ rows: [ReadRow], of day: BillingDay) {
        var counts: [ReadRow.Name: ReadCount] = [:]
        for row in rows {
            counts[row.name] = ReadCount(reads: row.reads, lowerBounds: row.lowerBounds)
        }
        for (name, count) in unsaved where name.day == day {
            counts[name, default: ReadCount()] += count
        }
        days[day] = counts
        // Two of them are in use at once around midnight.
        while days.count > 3, let oldest = days.keys.min() { days[oldest] = nil }
    }

    /// - Returns: What it was counted under.
    @discardableResult
    mutating func add(_ name: ReadRow.Name, _ count: ReadCount) -> ReadRow.Name {
        var name = name
        name.label = name.label.bounded
        name.screen = name.screen.bounded
        if let known = days[name.day], known[name] == nil, known.count >= Self.rowsPerDay {
            name.label = Self.overflow
            name.screen = ""
        }
        unsaved[name, default: ReadCount()] += count
        if days[name.day] != nil { days[name.day]![name, default: ReadCount()] += count }
        return name
    }

    mutating func saved(at elapsed: Duration) {
        unsaved = [:]
        savedAt = elapsed
    }

    /// The rest of what a store that is given up had counted.
    mutating func adopt(_ other: ReadLedger) {
        for (name, count) in other.unsaved { add(name, count) }
    }

    func reads(on day: BillingDay, where isCounted: (ReadRow.Name) -> Bool = { _ in true }) -> Int {
        (days[day] ?? [:]).reduce(0) { $0 + (isCounted($1.key) ? $1.value.reads : 0) }
    }
}

extension String {
    fileprivate var bounded: String {
        utf8.count > ReadLedger.longestName ? String(prefix(ReadLedger.longestName / 4)) : self
    }
}
