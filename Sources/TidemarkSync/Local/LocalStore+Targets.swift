import TidemarkModel
import TidemarkStore

extension LocalStore {
    /// The target of a query in the server's form; remembered from earlier listens, or new.
    func allocateTarget(_ query: Query) throws -> LocalTarget {
        let key = QueryKey(query)
        if let target = targets.values.first(where: { $0.key == key }) { return target }
        let target = try store.write { transaction in
            var target =
                try storedTarget(key, transaction)
                ?? LocalTarget(id: nextTargetID, key: key, sequence: 0)
            target.sequence = nextSequence
            try save(target, transaction)
            return target
        }
        nextSequence += 1
        nextTargetID = max(nextTargetID, target.id + 2)
        targets[target.id] = target
        persisted[target.id] = target
        return target
    }

    /// The rows of a target as of its last snapshot.
    func remoteKeys(of target: Int32) throws -> Set<DocumentPath> {
        try store.read { transaction in
            let rows = try transaction.rows(
                "SELECT path FROM syncTargetDocument WHERE target = ?", [.integer(Int64(target))])
            return Set(rows.map { DocumentPath(unchecked: $0.text(0)) })
        }
    }

    /// Nobody listens to the target any more. What is known of it stays, for the next time.
    func releaseTarget(_ id: Int32) throws {
        guard let target = targets.removeValue(forKey: id) else { return }
        let isSaved = persisted.removeValue(forKey: id) == target
        if !isSaved { try store.write { try save(target, $0) } }
    }

    /// When the server last confirmed all of a query's rows; nil for never.
    func confirmed(_ query: Query) throws -> Timestamp? {
        let key = QueryKey(query)
        if let target = targets.values.first(where: { $0.key == key }) { return target.confirmed }
        return try store.read { try storedTarget(key, $0)?.confirmed }
    }

    func confirm(
        _ key: QueryKey, at time: Timestamp, _ transaction: StoreTransaction
    ) throws {
        if let target = targets.values.first(where: { $0.key == key }) {
            targets[target.id]!.confirmed = max(time, target.confirmed ?? time)
            return
        }
        var target =
            try storedTarget(key, transaction)
            ?? LocalTarget(id: nextTargetID, key: key, sequence: nextSequence)
        target.confirmed = time
        try save(target, transaction)
        nextTargetID = max(nextTargetID, target.id + 2)
    }

    private func storedTarget(
        _ key: QueryKey, _ transaction: StoreTransaction
    ) throws -> LocalTarget? {
        try transaction.rows(
            """
            SELECT id, token, snapshotVersion, confirmed, sequence FROM syncTarget
            WHERE canonical = ?
            """, [.blob(key.bytes)]
        ).first.map { row in
            LocalTarget(
                id: Int32(clamping: row.integer(0)), key: key, resumeToken: row.blob(1),
                snapshotVersion: Timestamp(microseconds: row.integer(2)),
                confirmed: row.integer(3) == 0 ? nil : Timestamp(microseconds: row.integer(3)),
                sequence: row.integer(4))
        }
    }

    func save(_ target: LocalTarget, _ transaction: StoreTransaction) throws {
        try transaction.execute(
            "INSERT OR REPLACE INTO syncTarget VALUES (?, ?, ?, ?, ?, ?)",
            [
                .integer(Int64(target.id)), .blob(target.key.bytes), .blob(target.resumeToken),
                .integer(target.snapshotVersion.microseconds),
                .integer(target.confirmed?.microseconds ?? 0), .integer(target.sequence),
            ])
    }
}
