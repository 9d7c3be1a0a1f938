import TidemarkModel
import TidemarkStore

/// The files of one user's batches, on disk. All functions run inside a transaction of the queue,
/// so a batch and its files are stored together or not at all.
struct FileTable {
    let user: String?

    private var owner: SQLValue { .blob(UserKey(user).bytes) }
    static let record = "file"
    private static let columns =
        "id, batch, state, document, field, bucket, name, size, facts, upload"

    // MARK: Files

    func add(_ files: [AttachedFile], of batch: Int64, _ transaction: StoreTransaction) throws {
        for file in files {
            try transaction.execute(
                """
                INSERT INTO syncFile
                    (user, batch, state, document, field, bucket, name, size, upload, facts)
                VALUES (?, ?, 0, ?, ?, ?, ?, ?, X'', ?)
                """,
                [
                    owner, .integer(batch), .text(file.document.text),
                    .blob(FieldPathCodec.encode(file.field)), .text(file.object.bucket),
                    .text(file.object.name), .integer(file.size),
                ], last: file.facts)
        }
    }

    func all(_ transaction: StoreTransaction) throws -> [QueuedFile] {
        try files(
            "SELECT \(Self.columns) FROM syncFile WHERE user = ? ORDER BY id", [owner], transaction)
    }

    /// Returns the files of a window, the oldest first.
    func files(in window: FileWindow, _ transaction: StoreTransaction) throws -> [QueuedFile] {
        let limit = SQLValue.integer(Int64(window.limit))
        let running = window.running.map { "\($0)" }.joined(separator: ", ")
        func oldest(_ comparison: String) -> String {
            """
            SELECT id FROM (SELECT id FROM syncFile
                WHERE user = ? AND state = 0 AND size \(comparison) ? ORDER BY id LIMIT ?)
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
            [
                owner, owner, .integer(window.smallBytes), limit,
                owner, .integer(window.smallBytes), limit, owner,
            ], transaction)
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
            return try QueuedFile(
                id: row.integer(0), batch: row.integer(1), state: state,
                file: AttachedFile(
                    document: DocumentPath(unchecked: row.text(3)),
                    field: FieldPathCodec.decode(row.blob(4)), object: object,
                    size: row.integer(7), facts: row.blob(8)),
                upload: row.blob(9))
        }
    }

    func totals(_ transaction: StoreTransaction) throws -> (files: Int, bytes: Int64) {
        let row = try transaction.rows(
            "SELECT count(*), COALESCE(sum(size), 0) FROM syncFile WHERE user = ? AND state <> 4",
            [owner])[0]
        return try (Int(row.integer(0)), row.integer(1))
    }

    /// Returns the batches with files whose objects do not exist yet.
    func awaitedBatches(_ transaction: StoreTransaction) throws -> Set<Int64> {
        try Set(
            transaction.rows(
                "SELECT DISTINCT batch FROM syncFile WHERE user = ? AND state IN (0, 2)", [owner]
            ).map { try $0.integer(0) })
    }

    func batchesWithFiles(_ transaction: StoreTransaction) throws -> Set<Int64> {
        try Set(
            transaction.rows("SELECT DISTINCT batch FROM syncFile WHERE user = ?", [owner])
                .map { try $0.integer(0) })
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
    /// deleted.
    func batchIsRejected(_ batch: Int64, _ transaction: StoreTransaction) throws {
        try noteRemovals(ofBatch: batch, transaction)
        try setState(.rejected, ofBatch: batch, transaction)
    }

    /// Ends the files of a batch that the app gave up, and notes that their objects must be
    /// deleted.
    func batchIsDiscarded(_ batch: Int64, _ transaction: StoreTransaction) throws {
        try noteRemovals(ofBatch: batch, transaction)
        try setState(.over, ofBatch: batch, transaction)
    }

    /// Removes the rows of a refused batch whose files a new batch has taken over.
    func batchIsReplaced(_ batch: Int64, _ transaction: StoreTransaction) throws {
        try transaction.execute(
            "DELETE FROM syncFile WHERE batch = ? AND user = ? AND state = 3",
            [.integer(batch), owner])
    }

    /// Ends the files of refused batches that are no longer kept.
    func endForgotten(_ transaction: StoreTransaction) throws {
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
            INSERT INTO syncObjectRemoval (user, bucket, name)
                SELECT user, bucket, name FROM syncFile
                WHERE batch = ? AND user = ? AND state < 3
            """, [.integer(batch), owner])
    }

    func removals(_ transaction: StoreTransaction) throws -> [ObjectRemoval] {
        try transaction.rows(
            "SELECT id, bucket, name FROM syncObjectRemoval WHERE user = ? ORDER BY id", [owner]
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

/// The turns of batches that wait, or have waited, for files. A batch without a row has its own
/// number as its turn.
enum TurnTable {
    static func set(
        _ turn: BatchTurn, of batch: Int64, _ transaction: StoreTransaction
    ) throws(StoreError) {
        try transaction.execute(
            "INSERT OR REPLACE INTO syncTurn VALUES (?, ?)",
            [.integer(batch), .integer(turn.stored)])
    }

    static func remove(_ batch: Int64, _ transaction: StoreTransaction) throws(StoreError) {
        try transaction.execute("DELETE FROM syncTurn WHERE batch = ?", [.integer(batch)])
    }

    static func all(_ transaction: StoreTransaction) throws -> [Int64: BatchTurn] {
        var turns: [Int64: BatchTurn] = [:]
        for row in try transaction.rows("SELECT batch, turn FROM syncTurn") {
            let batch = try row.integer(0)
            turns[batch] = try BatchTurn(stored: row.integer(1))
        }
        return turns
    }
}

/// The durable form of a field's path.
enum FieldPathCodec {
    static func encode(_ path: FieldPath) -> [UInt8] {
        var writer = WireWriter(capacity: 0)
        writer.varint(UInt64(path.segments.count))
        for segment in path.segments { writer.text(segment) }
        return writer.bytes
    }

    static func decode(_ bytes: [UInt8]) throws(DamagedRecord) -> FieldPath {
        let path: FieldPath? = bytes.withUnsafeBufferPointer { buffer in
            var reader = WireReader(buffer)
            guard let count = try? reader.varint(), count > 0, count <= bytes.count else {
                return nil
            }
            var segments: [String] = []
            for _ in 0..<count {
                guard let segment = try? reader.text() else { return nil }
                segments.append(segment)
            }
            return reader.isAtEnd ? FieldPath(unchecked: segments) : nil
        }
        guard let path else { throw DamagedRecord(what: FileTable.record) }
        return path
    }
}
