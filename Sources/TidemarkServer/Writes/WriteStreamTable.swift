import TidemarkModel
import TidemarkStore

/// The histories of write streams on disk, so a stream can be resumed after a restart.
struct WriteStreamTable {
    /// The time after its last batch in which a stream can be resumed.
    static let lifetime = Duration.seconds(24 * 3_600)
    /// The maximum number of rows that a trim removes.
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

    /// - Parameter database: The row of the database.
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

    /// - Returns: True if the stream is new in the table.
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

    /// Forgets streams that were not used since `start`, and the `surplus` oldest: at most a slice
    /// per call.
    ///
    /// - Returns: The number of forgotten streams.
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
