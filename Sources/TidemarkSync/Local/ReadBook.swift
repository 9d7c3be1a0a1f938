import TidemarkModel
import TidemarkStore

/// The billed reads by day, label, screen and cause: the ledger in memory, and its table.
final class ReadBook {
    var ledger = ReadLedger()
    /// True if the next transaction that writes also stores the reads.
    var savesReads = false

    /// True if the next transaction has reads to store.
    var isDue: Bool { savesReads && !ledger.unsaved.isEmpty }

    /// Notes that the due reads were stored.
    func saved(at time: Duration) {
        ledger.saved(at: time)
        savesReads = false
    }

    /// Stores the reads that are not on disk yet, and deletes days that are too old. It joins
    /// another transaction if possible.
    func save(_ transaction: StoreTransaction) throws {
        for (name, count) in ledger.unsaved {
            try transaction.execute(
                """
                INSERT INTO syncRead VALUES (?, ?, ?, ?, ?, ?)
                ON CONFLICT (day, label, screen, cause) DO UPDATE
                SET reads = reads + excluded.reads, lowerBounds = lowerBounds + excluded.lowerBounds
                """,
                [
                    .integer(Int64(name.day.number)), .text(name.label), .text(name.screen),
                    .text(name.cause.rawValue), .integer(Int64(count.reads)),
                    .integer(Int64(count.lowerBounds)),
                ])
        }
        guard let newest = ledger.unsaved.keys.map(\.day).max() else { return }
        let oldest = newest.advanced(by: 1 - ReadLedger.daysKept)
        try transaction.execute(
            "DELETE FROM syncRead WHERE day < ?", [.integer(Int64(oldest.number))])
    }

    func rows(of day: BillingDay, _ transaction: StoreTransaction) throws -> [ReadRow] {
        try rows("day = ?", day, transaction)
    }

    /// Returns all rows of the days from `first` on, including the rows that are not on disk yet.
    func report(
        since first: BillingDay, _ transaction: StoreTransaction
    ) throws -> ReadReport {
        var counts: [ReadRow.Name: ReadCount] = [:]
        for row in try rows("day >= ?", first, transaction) {
            counts[row.name] = ReadCount(reads: row.reads, lowerBounds: row.lowerBounds)
        }
        for (name, count) in ledger.unsaved where name.day >= first {
            counts[name, default: ReadCount()] += count
        }
        return ReadReport(counts.map { ReadRow($0.key, $0.value) })
    }

    private func rows(
        _ condition: String, _ day: BillingDay, _ transaction: StoreTransaction
    ) throws -> [ReadRow] {
        try transaction.rows(
            """
            SELECT day, label, screen, cause, reads, lowerBounds FROM syncRead
            WHERE \(condition)
            """, [.integer(Int64(day.number))]
        ).compactMap { row in
            guard let cause = ReadCause(rawValue: try row.text(3)) else { return nil }
            return try ReadRow(
                day: BillingDay(number: Int(row.integer(0))), label: row.text(1),
                screen: row.text(2), cause: cause, reads: Int(row.integer(4)),
                lowerBounds: Int(row.integer(5)))
        }
    }
}
