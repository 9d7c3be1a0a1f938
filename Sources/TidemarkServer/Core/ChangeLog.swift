import TidemarkModel
import TidemarkStore

/// The earlier versions of changed documents: for each change of a commit, the document before the
/// change. Reads at a past time undo the changes. Listens that resume read the changes that they
/// missed.
struct ChangeLog {
    /// The row of the database.
    let database: Int64
    /// The documents of the database in their present state.
    let documents: DocumentTable

    private var transaction: StoreTransaction { documents.transaction }

    /// A document before its first change after some time; nil if the document did not exist.
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

    /// Returns the documents that were changed after `time` and that `isWanted` accepts, each in
    /// its state at `time`, in the order of their first changes. Reads an index entry per change,
    /// and a row per wanted document.
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

    /// Returns the times of commits, newest first.
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

    /// A change of a document by a commit, in the log.
    struct Mark: Sendable {
        /// The commit's time, in microseconds.
        var time: Int64
        var path: String

        /// Makes a mark that precedes all changes of the commit at `time`.
        init(before time: Int64) { (self.time, path) = (time, "") }

        init(_ row: SQLRow) throws(StoreError) {
            (time, path) = (try row.integer(0), try row.text(1))
        }
    }

    /// Returns the changes after a mark, oldest first. Reads an index entry per change.
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

    /// Returns the changes before a mark, newest first. Reads an index entry per change.
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

    /// The number of changes that one trim removes. A long log is removed in several trims, one per
    /// batch of commits.
    static let trimSlice = 1_000

    /// Removes the oldest changes before `cutoff`, at most about a slice of them.
    ///
    /// - Returns: The new start of the log; nil if nothing was removed.
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
    /// The change of a document by one commit.
    private struct Change {
        let row: Int64
        let time: Int64
        /// The time of the previous version; nil if the document did not exist.
        let previousTime: Int64?
    }

    /// The maximum number of versions that are followed back one by one.
    private static let steps = 64

    /// Returns the document in its state at `time`; nil if it has not changed since.
    ///
    /// Only removals have an index by path, because an index of all changes would make each write
    /// touch another page. The time of a version is the time of the commit that wrote it. This time
    /// finds the change, and the change contains the version before it. The search therefore
    /// follows the versions back, from the present version or from the first removal. Reads a row
    /// for each version. After 64 versions, it reads the index entries from `time` to the
    /// document's first change instead.
    func undo(of path: DocumentPath, after time: Timestamp) throws(StoreError) -> Undo? {
        let time = time.microseconds
        guard var change = try newestKnown(of: path, after: time) else { return nil }
        for _ in 0..<Self.steps {
            if let previous = change.previousTime {
                if previous <= time { return try undo(change, of: path) }
                change = try self.change(of: path, at: previous)
            } else {
                // The document was created by this change. If it was removed between `time` and
                // this change, the search continues at the removal.
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

    /// Returns a change after `time` from which the search can follow all earlier changes after
    /// `time`; nil if there is none.
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
