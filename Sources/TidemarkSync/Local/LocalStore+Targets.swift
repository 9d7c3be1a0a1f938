import TidemarkModel
import TidemarkStore

extension LocalStore {
    /// A query's target, remembered from earlier listens or new, with its rows.
    ///
    /// Only reads: a new target goes to disk with the first that is known of it, and its place among
    /// those that were used last when it is released. A listen that is answered by the cache alone costs no
    /// write, which was half of the time of a small one.
    ///
    /// - Returns: Nil where it would have to look at more than `most` documents or entries.
    func open(_ recent: RecentQuery, lookingAt most: Int) throws -> OpenedQuery? {
        try open(recent) { try run(recent.query, $0, recent.plan, lookingAt: most) }
    }

    /// As ``open(_:lookingAt:)``, with the rows as they are now.
    func open(_ recent: RecentQuery, _ rows: [LocalDocument]) throws -> OpenedQuery {
        try open(recent) { _ in rows }!
    }

    private func open(
        _ recent: RecentQuery, _ find: (StoreTransaction) throws -> [LocalDocument]?
    ) throws -> OpenedQuery? {
        let key = recent.targetKey
        if let used = targets.values.first(where: { $0.key == key }) {
            guard let documents = try read(.allocateTarget, find) else { return nil }
            return OpenedQuery(used, documents, synced: persisted[used.id] == nil ? [] : nil)
        }
        var stored: KeptTarget?
        let found = try read(.allocateTarget) { transaction in
            stored = try storedTarget(key, transaction)
            return try find(transaction)
        }
        guard let documents = found else { return nil }
        var target = stored?.target ?? LocalTarget(id: nextTargetID, key: key, sequence: 0)
        target.sequence = nextSequence
        let opened = OpenedQuery(target, documents, synced: stored == nil ? [] : nil)
        take(target, stored: stored)
        return opened
    }

    private func allocate(
        _ key: QueryKey, _ transaction: StoreTransaction
    ) throws -> LocalTarget {
        var target =
            try storedTarget(key, transaction)?.target
            ?? LocalTarget(id: nextTargetID, key: key, sequence: 0)
        target.sequence = nextSequence
        try save(target, transaction)
        return target
    }

    /// - Parameter stored: As it is on disk, if it is.
    private func take(_ target: consuming LocalTarget, stored: KeptTarget?) {
        let id = target.id
        nextSequence += 1
        nextTargetID = max(nextTargetID, id + 2)
        targets[id] = target
        let isStored = released.removeValue(forKey: id)?.isStored ?? true
        if isStored, let stored { persisted[id] = stored }
    }

    /// Opens all of these queries, or none. To be called before anything else is in use.
    func reopen(_ queries: [Query]) throws -> [OpenedQuery] {
        try write(.handleUserChange) { transaction in
            try queries.map { query in
                let key = QueryKey(query.wireForm)
                let known = targets.values.first { $0.key == key }
                let target = try known ?? allocate(key, transaction)
                if known == nil { take(target, stored: KeptTarget(target)) }
                return OpenedQuery(
                    target, try run(query, transaction)!,
                    synced: try remoteKeys(of: target.id, transaction))
            }
        }
    }

    /// The rows of a target as of its last snapshot.
    func remoteKeys(of target: Int32) throws -> Set<DocumentPath> {
        try read { try remoteKeys(of: target, $0) }
    }

    private func remoteKeys(
        of target: Int32, _ transaction: StoreTransaction
    ) throws -> Set<DocumentPath> {
        Set(
            try transaction.documents(of: database).paths(
                """
                SELECT d.collection, d.name FROM syncTargetRow r CROSS JOIN document d
                ON d.id = r.document WHERE r.target = ?
                """, [.integer(Int64(target))]))
    }

    /// A part of them, by the numbers of their rows.
    ///
    /// - Returns: The number of the last one too, nil without any; and whether no more follow.
    func remoteKeys(
        of target: Int32, after row: Int64, _ count: Int, _ transaction: StoreTransaction
    ) throws -> (paths: [DocumentPath], last: Int64?, isEnd: Bool) {
        let rows = try transaction.rows(
            """
            SELECT max(document), count(*) FROM (SELECT document FROM syncTargetRow
            WHERE target = ? AND document > ? ORDER BY document LIMIT ?)
            """, [.integer(Int64(target)), .integer(row), .integer(Int64(count))])
        guard let found = rows.first?.values[0], case .integer(let last) = found else {
            return ([], nil, true)
        }
        let paths = try transaction.documents(of: database).paths(
            """
            SELECT d.collection, d.name FROM syncTargetRow r CROSS JOIN document d
            ON d.id = r.document WHERE r.target = ? AND r.document > ? AND r.document <= ?
            """, [.integer(Int64(target)), .integer(row), .integer(last)])
        return (paths, last, try rows[0].integer(1) < count)
    }

    func hasRow(
        _ path: DocumentPath, of target: Int32, _ transaction: StoreTransaction
    ) throws -> Bool {
        guard let held = try transaction.documents(of: database).version(at: path) else {
            return false
        }
        return try !transaction.rows(
            "SELECT 1 FROM syncTargetRow WHERE target = ? AND document = ?",
            [.integer(Int64(target)), .integer(held.row)]
        ).isEmpty
    }

    /// Whether a target has more documents than this.
    func hasRows(moreThan count: Int, of target: Int32) throws -> Bool {
        try read { transaction in
            try !transaction.rows(
                "SELECT 1 FROM syncTargetRow WHERE target = ? LIMIT 1 OFFSET ?",
                [.integer(Int64(target)), .integer(Int64(count))]
            ).isEmpty
        }
    }

    /// A document that is not here is no row of anything.
    ///
    /// - Parameter row: The document's, where it is known.
    func addRow(
        _ path: DocumentPath, of target: Int32, row: Int64? = nil, _ transaction: StoreTransaction
    ) throws {
        let table = transaction.documents(of: database)
        guard let row = try row ?? table.version(at: path)?.row else { return }
        try transaction.execute(
            "INSERT OR IGNORE INTO syncTargetRow VALUES (?, ?)",
            [.integer(Int64(target)), .integer(row)])
    }

    /// Documents that came together lie side by side: they become rows of the target together.
    ///
    /// - Parameter rows: The documents', each once.
    func addRows(
        _ rows: [Int64], of target: Int32, _ transaction: StoreTransaction
    ) throws {
        let rows = rows.sorted()
        var start = 0
        while start < rows.count {
            var end = start + 1
            while end < rows.count, rows[end] == rows[end - 1] + 1 { end += 1 }
            try transaction.execute(
                """
                INSERT OR IGNORE INTO syncTargetRow
                SELECT ?, id FROM document WHERE id BETWEEN ? AND ?
                """, [.integer(Int64(target)), .integer(rows[start]), .integer(rows[end - 1])])
            start = end
        }
    }

    func removeRow(
        _ path: DocumentPath, of target: Int32, _ transaction: StoreTransaction
    ) throws {
        guard let held = try transaction.documents(of: database).version(at: path) else { return }
        try transaction.execute(
            "DELETE FROM syncTargetRow WHERE target = ? AND document = ?",
            [.integer(Int64(target)), .integer(held.row)])
    }

    /// Takes a document out of the cache, and out of every target: its row may become another's.
    func forget(_ path: DocumentPath, _ transaction: StoreTransaction) throws {
        let table = transaction.documents(of: database)
        guard let held = try table.version(at: path) else { return }
        try transaction.execute(
            "DELETE FROM syncTargetRow WHERE document = ?", [.integer(held.row)])
        try table.remove(path)
    }

    /// How many targets wait for somebody else's transaction.
    private static let mostReleased = 50

    /// Nobody listens to the target any more. What is known of it stays, for the next time.
    ///
    /// What the disk has not is written at once. Where that is only when it was used, it goes with the next
    /// transaction that writes anything: one of its own was most of the work of a listen to the cache,
    /// and two pages of the log. A kill before that lets it seem unused for longer.
    func releaseTarget(_ id: Int32) throws {
        guard var target = targets.removeValue(forKey: id) else { return }
        let stored = persisted.removeValue(forKey: id)
        let isKnown = stored.map { $0.target.isSame(as: target) } ?? target.isBlank
        target.sequence = nextSequence
        nextSequence += 1
        if isKnown, released.count < Self.mostReleased {
            let kept = KeptTarget(target, isStored: stored != nil)
            released[id] = kept
            recent.setTarget(kept, target.key)
        } else {
            try write(.releaseTarget) { try save(target, $0) }
        }
    }

    /// Writes down which targets were used last.
    func saveReleased() throws {
        if !released.isEmpty { try write(.releaseTarget) { _ in } }
    }

    /// When the server last confirmed all of a query's rows; nil for never.
    func confirmed(_ query: Query) throws -> Timestamp? {
        let key = QueryKey(query)
        if let target = targets.values.first(where: { $0.key == key }) { return target.confirmed }
        return try read { try storedTarget(key, $0)?.target.confirmed }
    }

    func confirm(
        _ key: QueryKey, at time: Timestamp, _ transaction: StoreTransaction
    ) throws {
        if let target = targets.values.first(where: { $0.key == key }) {
            targets[target.id]!.confirmed = max(time, target.confirmed ?? time)
            return
        }
        var target =
            try storedTarget(key, transaction)?.target
            ?? LocalTarget(id: nextTargetID, key: key, sequence: nextSequence)
        target.confirmed = time
        try save(target, transaction)
        nextTargetID = max(nextTargetID, target.id + 2)
    }

    func storedTarget(
        _ key: QueryKey, _ transaction: StoreTransaction
    ) throws -> KeptTarget? {
        if let known = recent.target(key) { return known }
        if let waiting = released.values.first(where: { $0.target.key == key }) { return waiting }
        let target = try transaction.rows(
            """
            SELECT id, token, snapshotVersion, confirmed, sequence FROM syncTarget
            WHERE canonical = ?
            """, [.blob(key.bytes)]
        ).first.map { row in
            try KeptTarget(
                LocalTarget(
                    id: Int32(clamping: row.integer(0)), key: key, resumeToken: row.blob(1),
                    snapshotVersion: Timestamp(microseconds: row.integer(2)),
                    confirmed: row.integer(3) == 0 ? nil : Timestamp(microseconds: row.integer(3)),
                    sequence: row.integer(4)))
        }
        if let target { lastVersion = max(lastVersion, target.target.serverVersion) }
        recent.setTarget(target, key)
        return target
    }

    /// Mostly it is there, with another token, and that is all that is written: to replace the row, or to
    /// write when it was used, would take its entries out of one index or two and put them back.
    func save(_ target: LocalTarget, _ transaction: StoreTransaction) throws {
        let values: [SQLValue] = [
            .integer(Int64(target.id)), .blob(target.key.bytes), .blob(target.resumeToken),
            .integer(target.snapshotVersion.microseconds),
            .integer(target.confirmed?.microseconds ?? 0), .integer(target.sequence),
        ]
        let isKnown = persisted[target.id]?.target.sequence == target.sequence
        if isKnown {
            try transaction.execute(
                """
                UPDATE syncTarget SET token = ?3, snapshotVersion = ?4, confirmed = ?5
                WHERE id = ?1 AND canonical = ?2 AND sequence = ?6
                """, values)
        }
        if !isKnown || !transaction.hasChangedRows {
            try transaction.execute(
                "INSERT OR REPLACE INTO syncTarget VALUES (?, ?, ?, ?, ?, ?)", values)
        }
        recent.setTarget(KeptTarget(target), target.key)
        released[target.id] = nil
    }
}
