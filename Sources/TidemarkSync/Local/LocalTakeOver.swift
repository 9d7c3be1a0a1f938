import TidemarkModel
import TidemarkStore

/// Takes documents and targets of another client's cache, in parts. Each part and the position
/// behind it are one transaction, so a kill loses nothing of what was taken.
///
/// Rows are stored under targets that no query uses yet, and that count as abandoned. A target is
/// adopted when all its rows are here. What an unfinished take-over leaves is removed like the rest
/// of a bundle, except while this process continues.
final class LocalTakeOver {
    private let file: LocalFile
    private let table: TargetTable
    private let queue: LocalQueue
    private let rows: TargetRows
    /// The take-over that this process continues.
    private var open: TakeOverRecord?

    init(_ file: LocalFile, table: TargetTable, queue: LocalQueue) {
        self.file = file
        self.table = table
        self.queue = queue
        rows = TargetRows(database: file.database)
    }

    // MARK: Begin and end

    /// Begins, or continues behind the last stored part.
    func begin(_ source: TakeOverSource) throws -> TakeOverState {
        if try isDone(source.mark) { return .done }
        let stored = try file.read { transaction in
            try LocalRecords.value(forKey: source.recordKey, transaction)
                .flatMap(TakeOverRecord.init(encoded:))
        }
        if stored == nil, source.isSpent { return .done }
        if let stored, stored.count == source.targetCount, try isIntact(stored) {
            open = stored
        } else {
            open = try reserve(source)
        }
        return .open(position: open!.position, spoiled: open!.spoiled)
    }

    func isDone(_ mark: String) throws -> Bool {
        try file.read { transaction in
            try LocalRecords.value(forKey: MovedMarks.key(of: mark), transaction) != nil
        }
    }

    /// True if nothing of the earlier parts was removed since.
    private func isIntact(_ record: TakeOverRecord) throws -> Bool {
        let count = try file.read { transaction in
            try transaction.rows(
                "SELECT count(*) FROM syncCondemned WHERE target BETWEEN ? AND ?",
                [.integer(Int64(record.firstID)), .integer(Int64(record.lastID))])[0].integer(0)
        }
        return count == Int64(record.count)
    }

    private func reserve(_ source: TakeOverSource) throws -> TakeOverRecord {
        let record = TakeOverRecord(
            firstID: table.reserveIDs(source.targetCount), count: source.targetCount,
            firstSequence: table.reserveUses(source.targetCount + 1))
        try file.write(.loadBundle) { transaction in
            for number in 0..<source.targetCount {
                try transaction.execute(
                    "INSERT INTO syncCondemned VALUES (?, ?)",
                    [.integer(Int64(record.id(of: number))), .integer(record.firstSequence)])
            }
            try LocalRecords.set(record.encoded, forKey: source.recordKey, transaction)
        }
        return record
    }

    /// Notes that everything is taken. The other store is never asked again.
    ///
    /// - Parameter version: The version of the other client's last snapshot.
    func finish(_ source: TakeOverSource, version: Timestamp) throws {
        try file.write(.loadBundle) { transaction in
            try MovedMarks.add(source.mark, transaction)
            try LocalRecords.set(nil, forKey: source.recordKey, transaction)
            try table.raiseLastVersion(to: version, transaction)
        }
        open = nil
    }

    /// The targets whose rows are being taken.
    var loading: [Int32] { open.map { open in (0..<open.count).map(open.id(of:)) } ?? [] }

    // MARK: Documents

    /// Stores a part of the documents, the rows of their targets, and the position behind them.
    ///
    /// - Parameter spoiled: The numbers of targets of which a row cannot be taken.
    /// - Returns: The documents that changed.
    func take(_ part: TakeOverPart, of source: TakeOverSource) throws -> [LocalDocument] {
        guard var record = open else { throw SyncError.userChanged }
        record.position = part.position
        record.spoiled.formUnion(part.spoiled)
        let changed = try file.write(.loadBundle) { transaction in
            let changed = try store(part.documents, transaction) {
                record.id(of: $0)
            }
            let loose = part.documents.lazy.filter(\.targets.isEmpty).map(\.path)
            try LooseDocuments.touch(loose, at: record.firstSequence, transaction)
            try LocalRecords.set(record.encoded, forKey: source.recordKey, transaction)
            return changed
        }
        open = record
        return queue.views(of: changed)
    }

    private func store(
        _ documents: [TakenDocument], _ transaction: StoreTransaction,
        id: (_ target: Int) -> Int32
    ) throws -> [LocalQueue.Change] {
        let table = transaction.documents(of: file.database)
        var changed: [LocalQueue.Change] = []
        for document in documents {
            let held = try table.version(at: document.path)
            var row = held?.row
            if held.map({ $0.updateTime < document.version }) ?? true {
                let new = document.stored
                row = try table.put(new, inPlaceOf: held)
                changed.append((document.path, new))
            }
            for target in document.targets {
                try rows.add(document.path, of: id(target), row: row, transaction)
            }
        }
        return changed
    }

    // MARK: Targets

    /// Stores a target with all its rows in one transaction, for the first screen.
    ///
    /// - Returns: The documents that changed, and whether the target was taken.
    func take(
        _ target: TakenTarget, with documents: [TakenDocument]
    ) throws -> (changed: [LocalDocument], isTaken: Bool) {
        let id = table.takeID()
        let (changed, isTaken) = try file.write(.loadBundle) { transaction in
            let changed = try store(documents, transaction) { _ in id }
            let isTaken = try adopt(
                target, as: id, sequence: table.nextSequence, transaction: transaction)
            if !isTaken {
                try transaction.execute(
                    "DELETE FROM syncTargetRow WHERE target = ?", [.integer(Int64(id))])
                try LooseDocuments.touch(
                    documents.map(\.path), at: table.nextSequence, transaction)
            }
            return (changed, isTaken)
        }
        table.countUse()
        return (queue.views(of: changed), isTaken)
    }

    /// Adopts the targets of which every row is here. The documents of the others stay as documents
    /// without a target.
    ///
    /// - Returns: The number of adopted targets.
    func adopt(_ targets: [TakenTarget]) throws -> Int {
        guard let record = open else { throw SyncError.userChanged }
        return try file.write(.loadBundle) { transaction in
            var adopted = 0
            for target in targets where !record.spoiled.contains(target.number) {
                let id = record.id(of: target.number)
                let sequence = record.firstSequence + Int64(record.count - target.number)
                guard try has(target.rowCount, id: id, transaction: transaction),
                    try adopt(target, as: id, sequence: sequence, transaction: transaction)
                else { continue }
                try transaction.execute(
                    "DELETE FROM syncCondemned WHERE target = ?", [.integer(Int64(id))])
                adopted += 1
            }
            return adopted
        }
    }

    private func has(
        _ count: Int, id: Int32, transaction: StoreTransaction
    ) throws -> Bool {
        let found = try transaction.rows(
            "SELECT count(*) FROM syncTargetRow WHERE target = ?", [.integer(Int64(id))])
        return try found[0].integer(0) == Int64(count)
    }

    /// - Returns: False if this cache knows the query's result by itself.
    private func adopt(
        _ target: TakenTarget, as id: Int32, sequence: Int64, transaction: StoreTransaction
    ) throws -> Bool {
        let key = QueryKey(target.query.wireForm)
        if table.inUse(key) != nil { return false }
        if let known = try table.storedTarget(key, transaction)?.target {
            guard known.resumeToken.isEmpty, known.snapshotVersion == .epoch else { return false }
            let old = SQLValue.integer(Int64(known.id))
            try transaction.execute("DELETE FROM syncTarget WHERE id = ?", [old])
            try transaction.execute(
                "INSERT OR REPLACE INTO syncCondemned VALUES (?, ?)",
                [old, .integer(known.sequence)])
            table.forgetRecent()
        }
        var new = LocalTarget(id: id, key: key, sequence: sequence)
        new.resumeToken = target.resumeToken
        new.snapshotVersion = target.version
        new.confirmed = target.version
        try table.save(new, transaction)
        try TakenTargets.add(id, transaction)
        return true
    }

    // MARK: Bundles

    /// Stores the names of bundles and queries that this cache does not have.
    func take(_ bundles: [TakenBundle], _ queries: [TakenNamedQuery]) throws {
        try file.write(.loadBundle) { transaction in
            for bundle in bundles {
                try transaction.execute(
                    "INSERT OR IGNORE INTO syncBundle VALUES (?, ?)",
                    [.blob(Array(bundle.id.utf8)), .integer(bundle.createTime.microseconds)])
            }
            for query in queries {
                try transaction.execute(
                    "INSERT OR IGNORE INTO syncNamedQuery VALUES (?, ?)",
                    [.blob(Array(query.name.utf8)), .blob(query.source)])
            }
        }
    }

    // MARK: A refusal

    /// Forgets a target that was taken over, if the server refuses it to this user, with the
    /// documents that no other target holds: they may be another user's.
    ///
    /// - Returns: The documents that changed; empty for a target of this cache's own.
    func refused(_ id: Int32) throws -> [LocalDocument] {
        let isTaken = try file.read { try TakenTargets.has(id, $0) }
        if !isTaken { return [] }
        let changed = try file.write(.loadBundle) { transaction -> [LocalQueue.Change] in
            try TakenTargets.remove(id, transaction)
            let target = SQLValue.integer(Int64(id))
            let paths = try transaction.documents(of: file.database).paths(
                """
                SELECT d.collection, d.name FROM syncTargetRow r CROSS JOIN document d
                ON d.id = r.document WHERE r.target = ?1 AND NOT EXISTS (
                SELECT 1 FROM syncTargetRow o WHERE o.document = r.document AND o.target != ?1)
                """, [target])
            for path in paths { try rows.forget(path, transaction) }
            try transaction.execute("DELETE FROM syncTargetRow WHERE target = ?", [target])
            try transaction.execute("DELETE FROM syncTarget WHERE id = ?", [target])
            table.forgetRecent()
            return paths.map { ($0, nil) }
        }
        return queue.views(of: changed)
    }
}

/// The targets that were taken over from another client's cache, in records of this one.
private enum TakenTargets {
    private static func key(_ id: Int32) -> String { "takenTarget/\(id)" }

    static func add(_ id: Int32, _ transaction: StoreTransaction) throws {
        try LocalRecords.set([1], forKey: key(id), transaction)
    }

    static func has(_ id: Int32, _ transaction: StoreTransaction) throws -> Bool {
        try LocalRecords.value(forKey: key(id), transaction) != nil
    }

    static func remove(_ id: Int32, _ transaction: StoreTransaction) throws {
        try LocalRecords.set(nil, forKey: key(id), transaction)
    }
}
