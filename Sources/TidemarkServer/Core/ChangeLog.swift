import TidemarkModel
import TidemarkStore

/// What commits changed, backwards: for each the document as it was before. Reads at a past time undo
/// it; listens that resume ask it what they missed.
struct ChangeLog {
    /// The database's row.
    let database: Int64
    /// Its documents as they are now.
    let documents: DocumentTable

    private var transaction: StoreTransaction { documents.transaction }

    /// A document as it was before its first change after some time; nil where it did not exist.
    struct Undo {
        let path: DocumentPath
        let previous: Document?
    }

    func append(_ difference: DocumentDifference, at time: Timestamp) throws(StoreError) {
        let previous = difference.before?.document
        try transaction.execute(
            """
            INSERT INTO change (database, commitTime, path, previousCreateTime,
                previousUpdateTime, previousFields, removed) VALUES (?, ?, ?, ?, ?, ?, ?)
            """,
            [
                .integer(database), .integer(time.microseconds), .text(difference.path.text),
                previous.map { .integer($0.createTime.microseconds) } ?? .null,
                previous.map { .integer($0.updateTime.microseconds) } ?? .null,
                previous.map { .blob($0.contents.bytes) } ?? .null,
                .integer(difference.after == nil ? 1 : 0),
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
            let path = try DocumentPath(unchecked: row.text(0))
            guard isWanted(path) else { continue }
            result.append(try undo(change(of: path, at: row.integer(1)), of: path))
        }
        return result
    }

    // MARK: Looking back

    /// Times of commits, newest first.
    func times(limit: Int) throws(StoreError) -> [Timestamp] {
        try times(
            "changeByTime WHERE database = ? ORDER BY commitTime DESC LIMIT ?",
            [.integer(database), .integer(Int64(limit))])
    }

    private func times(
        _ conditions: String, _ arguments: [SQLValue]
    ) throws(StoreError) -> [Timestamp] {
        let rows = try transaction.rows(
            "SELECT DISTINCT commitTime FROM change INDEXED BY \(conditions)", arguments)
        return try rows.map { row throws(StoreError) in
            try Timestamp(microseconds: row.integer(0))
        }
    }

    /// A change in the log: of a document, by a commit.
    struct Mark: Sendable {
        /// The commit's time, in microseconds.
        var time: Int64
        var path: String

        /// Before every change of a commit.
        init(before time: Int64) { (self.time, path) = (time, "") }

        init(_ row: SQLRow) throws(StoreError) {
            (time, path) = (try row.integer(0), try row.text(1))
        }
    }

    /// The changes behind a mark, oldest first. Costs an index entry each.
    func changes(
        after mark: Mark, upTo end: Timestamp, limit: Int
    ) throws(StoreError) -> [Mark] {
        let rows = try transaction.rows(
            """
            SELECT commitTime, path FROM change INDEXED BY changeByTime
            WHERE database = ? AND (commitTime, path) > (?, ?) AND commitTime <= ?
            ORDER BY commitTime, path LIMIT ?
            """,
            [
                .integer(database), .integer(mark.time), .text(mark.path),
                .integer(end.microseconds), .integer(Int64(limit)),
            ])
        return try rows.map { row throws(StoreError) in try Mark(row) }
    }

    /// The changes in front of a mark, newest first. Costs an index entry each.
    func changes(before mark: Mark, limit: Int) throws(StoreError) -> [Mark] {
        let rows = try transaction.rows(
            """
            SELECT commitTime, path FROM change INDEXED BY changeByTime
            WHERE database = ? AND (commitTime, path) < (?, ?)
            ORDER BY commitTime DESC, path DESC LIMIT ?
            """,
            [
                .integer(database), .integer(mark.time), .text(mark.path), .integer(Int64(limit)),
            ])
        return try rows.map { row throws(StoreError) in try Mark(row) }
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
        let start = try row.integer(0)
        try transaction.execute(
            "DELETE FROM change INDEXED BY changeByTime WHERE database = ? AND commitTime <= ?",
            [.integer(database), .integer(start)])
        return start
    }
}

// MARK: - One document

extension ChangeLog {
    /// What one commit did to a document.
    private struct Change {
        let row: Int64
        let time: Int64
        /// The version before; nil where it did not exist.
        let previousTime: Int64?
    }

    /// How many versions are followed back one by one.
    private static let steps = 64

    /// How the document was at `time`, when it has changed since.
    ///
    /// Only removals have an index by path: one of all changes would have each write touch another
    /// page of it. A version's time is that of the commit that made it, and so names the change before
    /// which the version before it stood: from version to version it goes back, beginning with what
    /// is there now or what was removed. Costs a row for each version, and past 64 of them the index
    /// entries from `time` on to the document's first change.
    func undo(of path: DocumentPath, after time: Timestamp) throws(StoreError) -> Undo? {
        let time = time.microseconds
        guard var change = try newestKnown(of: path, after: time) else { return nil }
        for _ in 0..<Self.steps {
            if let previous = change.previousTime {
                if previous <= time { return try undo(change, of: path) }
                change = try self.change(of: path, at: previous)
            } else {
                // It was made then: anew, if it was removed between `time` and then.
                let removal = try firstRemoval(of: path, after: time)
                guard let removal, removal.time < change.time else {
                    return Undo(path: path, previous: nil)
                }
                change = removal
            }
        }
        guard let first = try firstChange(of: path, after: time) else { return nil }
        return try undo(first, of: path)
    }

    /// A change after `time` from which all that came before it after `time` are found; nil where
    /// there is none.
    private func newestKnown(
        of path: DocumentPath, after time: Int64
    ) throws(StoreError) -> Change? {
        guard let present = try documents.document(at: path) else {
            return try firstRemoval(of: path, after: time)
        }
        let version = present.updateTime.microseconds
        return version > time ? try change(of: path, at: version) : nil
    }

    private func change(of path: DocumentPath, at time: Int64) throws(StoreError) -> Change {
        let change = try find(
            "changeByTime WHERE database = ? AND commitTime = ? AND path = ?",
            [.integer(database), .integer(time), .text(path.text)])
        guard let change else { throw .corrupt(detail: "no change of \(path) at \(time)") }
        return change
    }

    private func firstChange(
        of path: DocumentPath, after time: Int64
    ) throws(StoreError) -> Change? {
        try find(
            """
            changeByTime WHERE database = ? AND commitTime > ? AND path = ?
            ORDER BY commitTime LIMIT 1
            """, [.integer(database), .integer(time), .text(path.text)])
    }

    private func firstRemoval(
        of path: DocumentPath, after time: Int64
    ) throws(StoreError) -> Change? {
        try find(
            """
            removalByPath WHERE removed = 1 AND database = ? AND path = ? AND commitTime > ?
            ORDER BY commitTime LIMIT 1
            """, [.integer(database), .text(path.text), .integer(time)])
    }

    private func find(
        _ conditions: String, _ arguments: [SQLValue]
    ) throws(StoreError) -> Change? {
        let rows = try transaction.rows(
            "SELECT id, commitTime, previousUpdateTime FROM change INDEXED BY \(conditions)",
            arguments)
        return try rows.first.map { row throws(StoreError) in
            try Change(
                row: row.integer(0), time: row.integer(1),
                previousTime: row.isNull(2) ? nil : row.integer(2))
        }
    }

    private func undo(_ change: Change, of path: DocumentPath) throws(StoreError) -> Undo {
        let rows = try transaction.rows(
            """
            SELECT previousCreateTime, previousUpdateTime, previousFields FROM change WHERE id = ?
            """, [.integer(change.row)])
        guard let row = rows.first, !row.isNull(0) else { return Undo(path: path, previous: nil) }
        return try Undo(
            path: path,
            previous: Document(
                path: path, contents: EncodedFields(trusted: row.blob(2)),
                createTime: Timestamp(microseconds: row.integer(0)),
                updateTime: Timestamp(microseconds: row.integer(1))))
    }
}
