import TidemarkModel

/// The reads that are not on disk yet, and the totals of the last days. They are in memory because
/// every read checks the budgets first.
struct ReadLedger: Equatable, Sendable {
    /// The number of days; older days are deleted.
    static let daysKept = 35
    /// The maximum number of rows of a day. Beyond it, reads are counted by their cause under
    /// ``overflow``.
    static let rowsPerDay = 500
    static let overflow = "other labels"
    /// The maximum length of a name; a longer name is cut.
    static let longestName = 100

    private(set) var unsaved: [ReadRow.Name: ReadCount] = [:]
    /// All rows of the newest counted days.
    private(set) var days: [BillingDay: [ReadRow.Name: ReadCount]] = [:]
    /// The time of the last save, by the engine's clock.
    var savedAt: Duration?

    func knows(_ day: BillingDay) -> Bool { days[day] != nil }

    /// Loads the rows that the disk has of a day.
    mutating func load(_ rows: [ReadRow], of day: BillingDay) {
        var counts: [ReadRow.Name: ReadCount] = [:]
        for row in rows {
            counts[row.name] = ReadCount(reads: row.reads, lowerBounds: row.lowerBounds)
        }
        for (name, count) in unsaved where name.day == day {
            counts[name, default: ReadCount()] += count
        }
        days[day] = counts
        // Around midnight, two days are in use.
        while days.count > 3, let oldest = days.keys.min() { days[oldest] = nil }
    }

    /// - Returns: The name under which the reads were counted.
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

    /// Takes over the unsaved counts of a store that ends.
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
