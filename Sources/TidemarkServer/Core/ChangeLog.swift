import TidemarkModel
import TidemarkStore

/// What commits changed, backwards: for each the document as it was before. Reads at a past time undo
/// it; listens that resume ask it what they missed.
struct ChangeLog {
    let transaction: StoreTransaction
    /// The database's row.
    let database: Int64

    /// A document as it was before its first change after some time; nil where it did not exist.
    struct Undo {
        let path: DocumentPath
        let previous: Document?
    }

    func append(_ time: Timestamp, _ path: DocumentPath, previous: Document?) throws(StoreError) {
        try transaction.execute(
            """
            INSERT INTO change (database, commitTime, path, previousCreateTime,
                previousUpdateTime, previousFields) VALUES (?, ?, ?, ?, ?, ?)
            """,
            [
                .integer(database), .integer(time.microseconds), .text(path.text),
                previous.map { .integer($0.createTime.microseconds) } ?? .null,
                previous.map { .integer($0.updateTime.microseconds) } ?? .null,
                previous.map { .blob($0.contents.bytes) } ?? .null,
            ])
    }

    /// The paths that `isWanted` takes among those changed after `time`, each with its state then, in
    /// the order of their first change. Costs an index entry a change, and a row a wanted path.
    func undos(
        after time: Timestamp, where isWanted: (DocumentPath) -> Bool
    ) throws(StoreError) -> [Undo] {
        let rows = try transaction.rows(
            """
            SELECT path, MIN(commitTime) AS first FROM change INDEXED BY changeByTime
            WHERE database = ? AND commitTime > ? GROUP BY path ORDER BY first, path
            """, [.integer(database), .integer(time.microseconds)])
        var result: [Undo] = []
        for row in rows {
            let path = DocumentPath(unchecked: row.text(0))
            guard isWanted(path) else { continue }
            if let undo = try undo(of: path, after: time) { result.append(undo) }
        }
        return result
    }

    /// How the document was at `time`, when it has changed since.
    func undo(of path: DocumentPath, after time: Timestamp) throws(StoreError) -> Undo? {
        let rows = try transaction.rows(
            """
            SELECT previousCreateTime, previousUpdateTime, previousFields FROM change
            WHERE database = ? AND path = ? AND commitTime > ? ORDER BY commitTime LIMIT 1
            """, [.integer(database), .text(path.text), .integer(time.microseconds)])
        guard let row = rows.first else { return nil }
        if row.isNull(0) { return Undo(path: path, previous: nil) }
        return Undo(
            path: path,
            previous: Document(
                path: path, contents: EncodedFields(trusted: row.blob(2)),
                createTime: Timestamp(microseconds: row.integer(0)),
                updateTime: Timestamp(microseconds: row.integer(1))))
    }

    /// Rows that one trim removes at most: a long log goes in slices, a slice a batch of commits.
    static let trimSlice = 1_000

    /// Forgets the oldest changes, a slice of them.
    ///
    /// - Returns: The new start of the log, when it moved.
    func trim(before cutoff: Int64) throws(StoreError) -> Int64? {
        let rows = try transaction.rows(
            """
            SELECT MAX(commitTime) FROM (
                SELECT commitTime FROM change INDEXED BY changeByTime
                WHERE database = ? AND commitTime < ? ORDER BY commitTime LIMIT ?)
            """, [.integer(database), .integer(cutoff), .integer(Int64(Self.trimSlice))])
        guard let row = rows.first, !row.isNull(0) else { return nil }
        let start = row.integer(0)
        try transaction.execute(
            "DELETE FROM change INDEXED BY changeByTime WHERE database = ? AND commitTime <= ?",
            [.integer(database), .integer(start)])
        return start
    }
}
