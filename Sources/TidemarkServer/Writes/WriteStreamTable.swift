import TidemarkModel
import TidemarkStore

/// The histories of write streams on disk, so that a stream can be taken up after a restart.
struct WriteStreamTable {
    /// How long after its last batch a stream can be taken up again.
    static let lifetime = Duration.seconds(24 * 3_600)
    /// Rows that one trim removes at most.
    static let trimSlice = 100

    static let schema = """
        CREATE TABLE writeStream (
            id INTEGER PRIMARY KEY,
            database INTEGER NOT NULL,
            stream TEXT NOT NULL,
            -- How many batches it has applied.
            position INTEGER NOT NULL,
            -- The answers to the newest of them.
            newest BLOB NOT NULL,
            -- The last one's commit time.
            lastUse INTEGER NOT NULL,
            UNIQUE (database, stream)
        ) STRICT;
        CREATE INDEX writeStreamByUse ON writeStream (lastUse);
        """

    let transaction: StoreTransaction

    func count() throws(StoreError) -> Int {
        Int(try transaction.rows("SELECT COUNT(*) FROM writeStream")[0].integer(0))
    }

    /// - Parameter database: Its row.
    func history(
        of id: String, in database: Int64, usedSince start: Timestamp
    ) throws(StoreError) -> StreamHistory? {
        let rows = try transaction.rows(
            """
            SELECT position, newest FROM writeStream
            WHERE database = ? AND stream = ? AND lastUse >= ?
            """, [.integer(database), .text(id), .integer(start.microseconds)])
        return try rows.first.flatMap { row throws(StoreError) in
            try StreamHistory(id: id, position: row.integer(0), newest: row.blob(1))
        }
    }

    /// - Returns: Whether the stream is new here.
    func save(
        _ history: StreamHistory, in database: Int64, at time: Timestamp
    ) throws(StoreError) -> Bool {
        let values: [SQLValue] = [
            .integer(history.position), .blob(history.encodedNewest), .integer(time.microseconds),
            .integer(database), .text(history.id),
        ]
        let updated = try transaction.rows(
            """
            UPDATE writeStream SET position = ?, newest = ?, lastUse = ?
            WHERE database = ? AND stream = ? RETURNING id
            """, values)
        if !updated.isEmpty { return false }
        try transaction.execute(
            """
            INSERT INTO writeStream (position, newest, lastUse, database, stream)
            VALUES (?, ?, ?, ?, ?)
            """, values)
        return true
    }

    /// Forgets streams that were not used since `start`, and the `surplus` oldest: a slice of them.
    ///
    /// - Returns: How many it has forgotten.
    func trim(notUsedSince start: Timestamp, surplus: Int) throws(StoreError) -> Int {
        let slice = Int64(Self.trimSlice)
        let expired = try transaction.rows(
            """
            DELETE FROM writeStream WHERE id IN (
                SELECT id FROM writeStream INDEXED BY writeStreamByUse
                WHERE lastUse < ? ORDER BY lastUse LIMIT ?) RETURNING id
            """, [.integer(start.microseconds), .integer(slice)]
        ).count
        let left = min(Int64(surplus - expired), slice)
        if left <= 0 { return expired }
        return expired
            + (try transaction.rows(
                """
                DELETE FROM writeStream WHERE id IN (
                    SELECT id FROM writeStream INDEXED BY writeStreamByUse
                    ORDER BY lastUse LIMIT ?) RETURNING id
                """, [.integer(left)]
            ).count)
    }
}
