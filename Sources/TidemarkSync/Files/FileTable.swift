import TidemarkModel
import TidemarkStore

/// The files of one user's batches, on disk. All functions run inside a transaction of the queue,
/// so a batch and its files are stored together or not at all.
struct FileTable {
    let user: String?

    private var owner: SQLValue { .blob(UserKey(user).bytes) }
    static let record = "file"
    private static let columns =
        """
        id, batch, state, document, field, bucket, name, size, facts, upload, completion,
            networkRules
        """

    // MARK: Files

    /// - Parameter parent: The batch of the document, if the document is sent first.
    func add(
        _ files: [AttachedFile], of batch: Int64, behind parent: Int64? = nil,
        _ transaction: StoreTransaction
    ) throws {
        let state: QueuedFile.State = parent == nil ? .waiting : .behindDocument
        for file in files {
            let completion = file.completion.map { MutationCodec.encode([$0]) } ?? []
            try transaction.execute(
                """
                INSERT INTO syncFile (user, batch, state, document, field, bucket, name, size,
                    upload, completion, parent, networkRules, facts)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, X'', ?, ?, ?, ?)
                """,
                [
                    owner, .integer(batch), .integer(state.rawValue), .text(file.document.text),
                    .blob(FieldPathCodec.encode(file.field)), .text(file.object.bucket),
                    .text(file.object.name), .integer(file.size), .blob(completion),
                    .integer(parent ?? 0), .integer(file.networkRules),
                ], last: file.facts)
        }
    }

    func all(_ transaction: StoreTransaction) throws -> [QueuedFile] {
        try files(
            "SELECT \(Self.columns) FROM syncFile WHERE user = ? ORDER BY id", [owner], transaction)
    }

    /// Returns the files of a window, the oldest first.
    func files(in window: FileWindow, _ transaction: StoreTransaction) throws -> [QueuedFile] {
        let oldestFiles: [SQLValue] = [
            owner, .integer(window.smallBytes), .integer(window.brokenRules),
            .integer(Int64(window.limit)),
        ]
        let running = window.running.map { "\($0)" }.joined(separator: ", ")
        func oldest(_ comparison: String) -> String {
            """
            SELECT id FROM (SELECT id FROM syncFile
                WHERE user = ? AND state = 0 AND size \(comparison) ? AND networkRules & ? = 0
                ORDER BY id LIMIT ?)
            """
        }
        return try files(
            """
            SELECT \(Self.columns) FROM syncFile WHERE
                id IN (SELECT id FROM syncFile WHERE user = ? AND state IN (1, 2, 3, 4)
                    UNION ALL \(oldest("<=")) UNION ALL \(oldest(">"))
                    UNION ALL SELECT id FROM syncFile WHERE user = ? AND id IN (\(running)))
                ORDER BY id
            """,
            [owner] + oldestFiles + oldestFiles + [owner], transaction)
    }

    func files(ofBatch batch: Int64, _ transaction: StoreTransaction) throws -> [QueuedFile] {
        try files(
            "SELECT \(Self.columns) FROM syncFile WHERE user = ? AND batch = ? ORDER BY id",
            [owner, .integer(batch)], transaction)
    }

    func file(_ id: Int64, _ transaction: StoreTransaction) throws -> QueuedFile? {
        try files(
            "SELECT \(Self.columns) FROM syncFile WHERE user = ? AND id = ?",
            [owner, .integer(id)], transaction
        ).first
    }

    /// Returns the newest file of a document's field.
    func newest(
        of document: DocumentPath, _ field: FieldPath, _ transaction: StoreTransaction
    ) throws -> QueuedFile? {
        try files(
            """
            SELECT \(Self.columns) FROM syncFile
            WHERE user = ? AND document = ? AND field = ? ORDER BY id DESC LIMIT 1
            """,
            [owner, .text(document.text), .blob(FieldPathCodec.encode(field))], transaction
        ).first
    }

    private func files(
        _ sql: String, _ arguments: [SQLValue], _ transaction: StoreTransaction
    ) throws -> [QueuedFile] {
        try transaction.rows(sql, arguments).map { row in
            let object = try ObjectName(bucket: row.text(5), name: row.text(6))
            guard let state = QueuedFile.State(rawValue: try row.integer(2)) else {
                throw DamagedRecord(what: Self.record)
            }
            let completion = try row.blob(10)
            return try QueuedFile(
                id: row.integer(0), batch: row.integer(1), state: state,
                file: AttachedFile(
                    document: DocumentPath(unchecked: row.text(3)),
                    field: FieldPathCodec.decode(row.blob(4)), object: object,
                    size: row.integer(7), facts: row.blob(8),
                    completion: completion.isEmpty
                        ? nil : MutationCodec.decode(completion).first,
                    networkRules: row.integer(11)),
                upload: row.blob(9))
        }
    }

    func totals(_ transaction: StoreTransaction) throws -> (files: Int, bytes: Int64) {
        let row = try transaction.rows(
            "SELECT count(*), COALESCE(sum(size), 0) FROM syncFile WHERE user = ? AND state <> 4",
            [owner])[0]
        return try (Int(row.integer(0)), row.integer(1))
    }

    /// Returns the held batches of all users that wait for no file of this user, in order.
    func batchesWithoutFiles(_ transaction: StoreTransaction) throws -> [Int64] {
        try transaction.rows(
            """
            SELECT batch FROM syncTurn WHERE turn <= 0 AND NOT EXISTS (
                SELECT 1 FROM syncFile f WHERE f.batch = syncTurn.batch AND f.user = ?
                    AND f.state IN (0, 2, 5))
            ORDER BY batch
            """, [owner]
        ).map { try $0.integer(0) }
    }

    /// Returns the batches with files, in order. A batch is awaited while one of its objects does
    /// not exist.
    func batchesInOrder(
        _ transaction: StoreTransaction
    ) throws -> [(batch: Int64, isAwaited: Bool)] {
        let awaited = Set([QueuedFile.State.waiting, .failed, .behindDocument].map(\.rawValue))
        var batches: [(batch: Int64, isAwaited: Bool)] = []
        try transaction.visitRows(
            "SELECT batch, state FROM syncFile WHERE user = ? ORDER BY batch", [owner]
        ) { row in
            let (batch, isAwaited) = try (row.integer(0), awaited.contains(row.integer(1)))
            if batches.last?.batch == batch {
                if isAwaited { batches[batches.count - 1].isAwaited = true }
            } else {
                batches.append((batch, isAwaited))
            }
        }
        return batches
    }

    /// - Returns: False if the file does not exist or has another state.
    func change(
        _ id: Int64, from states: [QueuedFile.State], to state: QueuedFile.State,
        upload: [UInt8]? = nil, _ transaction: StoreTransaction
    ) throws -> Bool {
        let list = states.map { "\($0.rawValue)" }.joined(separator: ", ")
        let assignment = upload == nil ? "" : ", upload = ?"
        var arguments: [SQLValue] = [.integer(state.rawValue)]
        if let upload { arguments.append(.blob(upload)) }
        try transaction.execute(
            """
            UPDATE syncFile SET state = ?\(assignment)
            WHERE id = ? AND user = ? AND state IN (\(list))
            """, arguments + [.integer(id), owner])
        return transaction.hasChangedRows
    }

    func remove(_ id: Int64, _ transaction: StoreTransaction) throws {
        try transaction.execute(
            "DELETE FROM syncFile WHERE id = ? AND user = ? AND state = 4", [.integer(id), owner])
    }

    // MARK: Batches

    /// Marks the files of an acknowledged batch.
    func batchIsDone(_ batch: Int64, _ transaction: StoreTransaction) throws {
        try setState(.over, ofBatch: batch, transaction)
    }

    /// Keeps the files of a refused batch for a retry, and notes that their objects must be
    /// deleted. A write that followed its files names them, so a retry sends the files first.
    func batchIsRejected(_ batch: Int64, _ transaction: StoreTransaction) throws {
        try noteRemovals(ofBatch: batch, transaction)
        try transaction.execute(
            "UPDATE syncFile SET state = 3, completion = X'' WHERE batch = ? AND user = ?",
            [.integer(batch), owner])
    }

    /// Ends the files of a batch that the app gave up, and notes that their objects must be
    /// deleted.
    func batchIsDiscarded(_ batch: Int64, _ transaction: StoreTransaction) throws {
        try noteRemovals(ofBatch: batch, transaction)
        try setState(.over, ofBatch: batch, transaction)
        try transaction.execute(
            "DELETE FROM syncObjectRemoval WHERE batch = ? AND user = ?", [.integer(batch), owner])
    }

    /// Removes the rows of a refused batch whose files a new batch has taken over, and passes its
    /// objects to delete to the new batch.
    func batch(
        _ batch: Int64, isReplacedBy new: Int64, _ transaction: StoreTransaction
    ) throws {
        try transaction.execute(
            "DELETE FROM syncFile WHERE batch = ? AND user = ? AND state = 3",
            [.integer(batch), owner])
        try transaction.execute(
            "UPDATE syncObjectRemoval SET batch = ? WHERE batch = ? AND user = ?",
            [.integer(new), .integer(batch), owner])
    }

    /// Ends the files of refused batches that are no longer kept. Their documents are not deleted,
    /// so the objects of these stay.
    func endForgotten(_ transaction: StoreTransaction) throws {
        try transaction.execute(
            """
            DELETE FROM syncObjectRemoval WHERE user = ? AND batch <> 0
                AND batch NOT IN (SELECT id FROM syncRejected)
                AND batch NOT IN (SELECT id FROM syncBatch)
            """, [owner])
        try transaction.execute(
            """
            UPDATE syncFile SET state = 4
            WHERE user = ? AND state = 3 AND batch NOT IN (SELECT id FROM syncRejected)
            """, [owner])
    }

    private func setState(
        _ state: QueuedFile.State, ofBatch batch: Int64, _ transaction: StoreTransaction
    ) throws {
        try transaction.execute(
            "UPDATE syncFile SET state = ? WHERE batch = ? AND user = ?",
            [.integer(state.rawValue), .integer(batch), owner])
    }

    // MARK: Objects to delete

    private func noteRemovals(ofBatch batch: Int64, _ transaction: StoreTransaction) throws {
        try transaction.execute(
            """
            INSERT INTO syncObjectRemoval (user, bucket, name, batch, document, field)
                SELECT user, bucket, name, 0, '', X'' FROM syncFile
                WHERE batch = ? AND user = ? AND state < 3
            """, [.integer(batch), owner])
    }

    func removals(_ transaction: StoreTransaction) throws -> [ObjectRemoval] {
        try transaction.rows(
            """
            SELECT id, bucket, name FROM syncObjectRemoval WHERE user = ? AND batch = 0
            ORDER BY id
            """, [owner]
        ).map { row in
            try ObjectRemoval(
                id: row.integer(0), object: ObjectName(bucket: row.text(1), name: row.text(2)))
        }
    }

    func endRemoval(_ id: Int64, _ transaction: StoreTransaction) throws {
        try transaction.execute(
            "DELETE FROM syncObjectRemoval WHERE id = ? AND user = ?", [.integer(id), owner])
    }
}
