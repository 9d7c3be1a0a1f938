import TidemarkStore

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
            let days = try snapshot.db.rows("SELECT day FROM changed") { $0.integer(0) }
            let number = try snapshot.db.integer("SELECT max(number) FROM changed")
            return ChangedDays(days: Set(days.map(HealthDay.init(number:))), number: number ?? 0)
        }
    }

    /// Removes these days from the list, except days that changed again since.
    public func settle(_ changed: ChangedDays) throws(HealthExportError) {
        try write { db in
            try db.execute("DELETE FROM changed WHERE number <= ?", [changed.number])
        }
    }

    static func note(_ days: Set<HealthDay>, in db: HealthConnection) throws {
        let last = try db.integer("SELECT max(number) FROM changed") ?? 0
        for day in days {
            try db.execute(
                "INSERT OR REPLACE INTO changed (day, number) VALUES (?, ?)",
                [day.number, last + 1])
        }
    }
}
