import TidemarkModel
import TidemarkStore

/// The billed reads by day, label, screen and cause: the ledger in memory, and its table.
final class ReadBook {
    var ledger = ReadLedger()
    var reservations = ReadReservations()
    /// The number of reads that the cache answered, by day, that are not on disk yet.
    private var cached: [BillingDay: Int] = [:]
    /// True if the next transaction that writes also stores the reads.
    var savesReads = false

    /// True if the next transaction has reads to store.
    var isDue: Bool { savesReads && hasUnsaved }
    var hasUnsaved: Bool {
        !ledger.unsaved.isEmpty || !reservations.unsaved.isEmpty || !cached.isEmpty
    }

    /// Counts a read that the cache answered.
    func countCached(on day: BillingDay) { cached[day, default: 0] += 1 }

    /// Notes that the due reads were stored.
    func saved(at time: Duration) {
        ledger.saved(at: time)
        reservations.saved()
        cached = [:]
        savesReads = false
    }

    /// Stores the reads that are not on disk yet, and deletes days that are too old. It joins
    /// another transaction if possible.
    func save(_ transaction: StoreTransaction) throws {
        func add(
            _ count: ReadCount, _ cause: String, of day: BillingDay, label: String, screen: String
        ) throws {
            try transaction.execute(
                """
                INSERT INTO syncRead VALUES (?, ?, ?, ?, ?, ?)
                ON CONFLICT (day, label, screen, cause) DO UPDATE
                SET reads = reads + excluded.reads, lowerBounds = lowerBounds + excluded.lowerBounds
                """,
                [
                    .integer(Int64(day.number)), .text(label), .text(screen), .text(cause),
                    .integer(Int64(count.reads)), .integer(Int64(count.lowerBounds)),
                ])
        }
        for (name, count) in ledger.unsaved {
            try add(
                count, name.cause.rawValue, of: name.day, label: name.label, screen: name.screen)
        }
        for (name, reads) in reservations.unsaved {
            try add(
                ReadCount(reads: reads), Self.reserved, of: name.day, label: name.label,
                screen: name.screen)
        }
        for (day, count) in cached {
            try add(ReadCount(reads: count), Self.fromCache, of: day, label: "", screen: "")
        }
        guard let newest = ledger.unsaved.keys.map(\.day).max() else { return }
        let oldest = newest.advanced(by: 1 - ReadLedger.daysKept)
        try transaction.execute(
            "DELETE FROM syncRead WHERE day < ?", [.integer(Int64(oldest.number))])
    }

    /// The cause under which reservations are stored. It is none of ``ReadCause``, so reports and
    /// older versions skip these rows.
    private static let reserved = "reserved"
    /// The cause under which reads that the cache answered are stored, in the same way.
    private static let fromCache = "cached"

    /// Returns the reads that the cache answered, by day, including those that are not on disk yet.
    func cachedReads(
        since first: BillingDay, _ transaction: StoreTransaction
    ) throws -> [BillingDay: Int] {
        var result = cached.filter { $0.key >= first }
        let rows = try transaction.rows(
            "SELECT day, reads FROM syncRead WHERE day >= ? AND cause = ?",
            [.integer(Int64(first.number)), .text(Self.fromCache)])
        for row in rows {
            let day = BillingDay(number: Int(try row.integer(0)))
            result[day, default: 0] += Int(try row.integer(1))
        }
        return result
    }

    func reservations(
        of day: BillingDay, _ transaction: StoreTransaction
    ) throws -> [ReadReservations.Name: Int] {
        var result: [ReadReservations.Name: Int] = [:]
        let rows = try transaction.rows(
            "SELECT label, screen, reads FROM syncRead WHERE day = ? AND cause = ?",
            [.integer(Int64(day.number)), .text(Self.reserved)])
        for row in rows {
            let name = ReadReservations.Name(
                day: day, label: try row.text(0), screen: try row.text(1))
            result[name] = Int(try row.integer(2))
        }
        return result
    }

    func rows(of day: BillingDay, _ transaction: StoreTransaction) throws -> [ReadRow] {
        try rows("day = ?", day: day, transaction: transaction)
    }

    /// Returns all rows of the days from `first` on, including the rows that are not on disk yet.
    func report(
        since first: BillingDay, _ transaction: StoreTransaction
    ) throws -> ReadReport {
        var counts: [ReadRow.Name: ReadCount] = [:]
        for row in try rows("day >= ?", day: first, transaction: transaction) {
            counts[row.name] = ReadCount(reads: row.reads, lowerBounds: row.lowerBounds)
        }
        for (name, count) in ledger.unsaved where name.day >= first {
            counts[name, default: ReadCount()] += count
        }
        return ReadReport(counts.map { ReadRow($0.key, $0.value) })
    }

    private func rows(
        _ condition: String, day: BillingDay, transaction: StoreTransaction
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
