import GRDB

/// The local days whose hours may have changed since they were last settled. They are recorded in
/// the transaction that changes the hours.
public struct ChangedDays: Hashable, Sendable {
    public let days: Set<HealthDay>
    /// The number of the last change among them.
    let number: Int64
}

extension HealthStore {
    /// Returns the days that changed and were not settled yet, for a single reader, which sends the
    /// days.
    public func changedDays() throws(HealthExportError) -> ChangedDays {
        try read { snapshot in
            let days = try Int64.fetchSet(snapshot.db, sql: "SELECT day FROM changed")
            let number = try Int64.fetchOne(snapshot.db, sql: "SELECT max(number) FROM changed")
            return ChangedDays(days: Set(days.map(HealthDay.init(number:))), number: number ?? 0)
        }
    }

    /// Removes these days from the list, except days that changed again since.
    public func settle(_ changed: ChangedDays) throws(HealthExportError) {
        try write { db in
            try db.execute(
                sql: "DELETE FROM changed WHERE number <= ?", arguments: [changed.number])
        }
    }

    static func note(_ days: Set<HealthDay>, in db: Database) throws {
        let last = try Int64.fetchOne(db, sql: "SELECT max(number) FROM changed") ?? 0
        for day in days {
            try db.execute(
                sql: "INSERT OR REPLACE INTO changed (day, number) VALUES (?, ?)",
                arguments: [day.number, last + 1])
        }
    }
}
