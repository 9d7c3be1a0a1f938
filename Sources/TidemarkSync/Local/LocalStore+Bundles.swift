import TidemarkModel
import TidemarkStore

extension LocalStore {
    /// - Returns: The documents that changed, as they look now; nil when the bundle is not new.
    func load(_ bundle: DocumentBundle) throws -> [LocalDocument]? {
        let id = Array(bundle.id.utf8)
        let changed = try write(.loadBundle) { transaction -> [Change]? in
            let known = try transaction.rows(
                "SELECT createTime FROM syncBundle WHERE id = ?", [.blob(id)])
            if let time = known.first, time.integer(0) >= bundle.createTime.microseconds {
                return nil
            }
            var changed: [Change] = []
            for document in bundle.documents {
                changed += try merge(
                    [document.remote], readTime: document.readTime, { _, _ in false }, transaction)
            }
            let all = bundle.documents.filter { $0.document != nil }
            try saveResult(of: QueryKey(bundle: bundle.id), all.map(\.path), .epoch, transaction)
            try touch(bundle.documents.lazy.map(\.path), transaction)
            for query in bundle.namedQueries { try save(query, all, transaction) }
            try transaction.execute(
                "INSERT OR REPLACE INTO syncBundle VALUES (?, ?)",
                [.blob(id), .integer(bundle.createTime.microseconds)])
            return changed
        }
        nextSequence += 1
        return changed.map { views(of: $0) }
    }

    func namedQuery(_ name: String) throws -> [UInt8]? {
        try read { transaction in
            try transaction.rows(
                "SELECT source FROM syncNamedQuery WHERE name = ?", [.blob(Array(name.utf8))]
            ).first?.blob(0)
        }
    }

    private func save(
        _ named: NamedQuery, _ documents: [BundledDocument], _ transaction: StoreTransaction
    ) throws {
        try transaction.execute(
            "INSERT OR REPLACE INTO syncNamedQuery VALUES (?, ?)",
            [.blob(Array(named.name.utf8)), .blob(named.source)])
        let rows = documents.filter { $0.queries.contains { $0.hasSameBytes(as: named.name) } }
        try saveResult(
            of: QueryKey(named.query.wireForm), rows.map(\.path), named.readTime, transaction)
    }

    /// The rows of a target that nobody has to listen to: they stay for as long as it does.
    ///
    /// - Parameter readTime: As of when they are all of them: a listen goes on from there. The epoch
    ///   when they are no query's result.
    private func saveResult(
        of key: QueryKey, _ rows: [DocumentPath], _ readTime: Timestamp,
        _ transaction: StoreTransaction
    ) throws {
        // A listen that is under way knows better.
        if targets.values.contains(where: { $0.key == key }) { return }
        var target =
            try storedTarget(key, transaction)
            ?? LocalTarget(id: nextTargetID, key: key, sequence: 0)
        if readTime != .epoch, readTime <= target.snapshotVersion { return }
        nextTargetID = max(nextTargetID, target.id + 2)
        target.sequence = nextSequence
        target.resumeToken = []
        target.snapshotVersion = readTime
        if readTime != .epoch { target.confirmed = max(readTime, target.confirmed ?? readTime) }
        try save(target, transaction)
        let id = SQLValue.integer(Int64(target.id))
        try transaction.execute("DELETE FROM syncTargetRow WHERE target = ?", [id])
        for path in rows { try addRow(path, of: target.id, transaction) }
    }
}
