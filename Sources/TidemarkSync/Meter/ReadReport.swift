public import TidemarkModel

/// The reads of one day that were billed for one reason.
public struct ReadRow: Hashable, Sendable {
    public var day: BillingDay
    /// The label; empty if the call named none and the client has none.
    public var label: String
    /// The screen; empty if the call named none.
    public var screen: String
    public var cause: ReadCause
    public var reads: Int
    /// The number of answers that did not show their complete price: the real bill is at least
    /// ``reads``. Examples are sums and averages without a count, and queries over several range
    /// fields.
    public var lowerBounds: Int

    public init(
        day: BillingDay, label: String, screen: String, cause: ReadCause, reads: Int,
        lowerBounds: Int = 0
    ) {
        self.day = day
        self.label = label
        self.screen = screen
        self.cause = cause
        self.reads = reads
        self.lowerBounds = lowerBounds
    }
}

/// The reads and their purposes, as a value that can be summed, compared, shown or sent.
public struct ReadReport: Hashable, Sendable {
    /// The rows: the newest day first, and within a day the most expensive row first.
    public let rows: [ReadRow]

    public init(_ rows: some Sequence<ReadRow>) {
        self.rows = rows.filter { $0.reads != 0 || $0.lowerBounds != 0 }.sorted { left, right in
            (right.day.number, right.reads, left.label, left.screen, left.cause.rawValue)
                < (left.day.number, left.reads, right.label, right.screen, right.cause.rawValue)
        }
    }

    public var reads: Int { rows.reduce(0) { $0 + $1.reads } }

    public var byLabel: [String: Int] { sums(\.label) }
    public var byScreen: [String: Int] { sums(\.screen) }
    public var byCause: [ReadCause: Int] { sums(\.cause) }
    public var byDay: [BillingDay: Int] { sums(\.day) }

    private func sums<Key: Hashable>(_ key: (ReadRow) -> Key) -> [Key: Int] {
        rows.reduce(into: [:]) { $0[key($1), default: 0] += $1.reads }
    }

    public func reads(label: String) -> Int { byLabel[label] ?? 0 }
    public func reads(_ cause: ReadCause) -> Int { byCause[cause] ?? 0 }

    public func filtered(_ isIncluded: (ReadRow) -> Bool) -> ReadReport {
        ReadReport(rows.filter(isIncluded))
    }

    /// Returns the reads between two reports of one meter.
    public func since(_ earlier: ReadReport) -> ReadReport {
        var left: [ReadRow.Name: ReadRow] = [:]
        for row in rows { left[row.name] = row }
        for row in earlier.rows {
            left[row.name]?.reads -= row.reads
            left[row.name]?.lowerBounds -= row.lowerBounds
        }
        return ReadReport(left.values)
    }

    /// A table with one line per row, for a log or a terminal.
    public var table: String {
        var lines = [["day", "label", "screen", "cause", "reads"]]
        for row in rows {
            lines.append([
                row.day.description, row.label.isEmpty ? "-" : row.label,
                row.screen.isEmpty ? "-" : row.screen, row.cause.rawValue,
                (row.lowerBounds > 0 ? ">= " : "") + String(row.reads),
            ])
        }
        lines.append(["", "", "", "sum", String(reads)])
        let widths = (0..<5).map { column in lines.map { $0[column].count }.max() ?? 0 }
        return lines.map { line in
            (0..<5).map { column in
                let padding = String(repeating: " ", count: widths[column] - line[column].count)
                return column == 4 ? padding + line[column] : line[column] + padding
            }.joined(separator: "  ")
        }.joined(separator: "\n")
    }
}

extension ReadReport: CustomStringConvertible {
    public var description: String { table }
}

extension ReadRow {
    /// The identity of a row: everything except its counts.
    struct Name: Hashable, Sendable {
        var day: BillingDay
        var label: String
        var screen: String
        var cause: ReadCause
    }

    var name: Name { Name(day: day, label: label, screen: screen, cause: cause) }

    init(_ name: Name, _ count: ReadCount) {
        self.init(
            day: name.day, label: name.label, screen: name.screen, cause: name.cause,
            reads: count.reads, lowerBounds: count.lowerBounds)
    }
}

struct ReadCount: Hashable, Sendable {
    var reads = 0
    var lowerBounds = 0

    static func += (left: inout ReadCount, right: ReadCount) {
        left.reads += right.reads
        left.lowerBounds += right.lowerBounds
    }
}

/// The read book of the last days.
package struct ReadBookDays: Hashable, Sendable {
    /// The present day, which is not over.
    package let today: BillingDay
    package let report: ReadReport
    /// The number of reads that the cache answered, as far as they were counted.
    package let cached: [BillingDay: Int]
}
