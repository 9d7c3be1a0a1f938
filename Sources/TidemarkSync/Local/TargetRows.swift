import TidemarkModel
import TidemarkStore

/// The documents of each target, on disk.
struct TargetRows {
    let database: DatabaseID

    /// Returns the rows of a target as of its last snapshot.
    func all(
        of target: Int32, _ transaction: StoreTransaction
    ) throws -> Set<DocumentPath> {
        Set(
            try transaction.documents(of: database).paths(
                """
                SELECT d.collection, d.name FROM syncTargetRow r CROSS JOIN document d
                ON d.id = r.document WHERE r.target = ?
                """, [.integer(Int64(target))]))
    }

    /// Returns a part of the documents, by the numbers of their rows.
    ///
    /// - Returns: Also the number of the last row, nil if the part is empty; and whether the part
    ///   is the last.
    func page(
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

    /// Returns the first documents of a target.
    func first(
        of target: Int64, _ limit: Int, _ transaction: StoreTransaction
    ) throws -> [DocumentPath] {
        try transaction.documents(of: database).paths(
            """
            SELECT d.collection, d.name FROM syncTargetRow r CROSS JOIN document d
            ON d.id = r.document WHERE r.target = ? LIMIT ?
            """, [.integer(target), .integer(Int64(limit))])
    }

    func has(
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

    func hasMore(
        than count: Int, of target: Int32, _ transaction: StoreTransaction
    ) throws -> Bool {
        try !transaction.rows(
            "SELECT 1 FROM syncTargetRow WHERE target = ? LIMIT 1 OFFSET ?",
            [.integer(Int64(target)), .integer(Int64(count))]
        ).isEmpty
    }

    /// Adds a document to a target. A document that is not in the cache is not added.
    ///
    /// - Parameter row: The number of the document's row, if it is known.
    func add(
        _ path: DocumentPath, of target: Int32, row: Int64? = nil, _ transaction: StoreTransaction
    ) throws {
        let table = transaction.documents(of: database)
        guard let row = try row ?? table.version(at: path)?.row else { return }
        try transaction.execute(
            "INSERT OR IGNORE INTO syncTargetRow VALUES (?, ?)",
            [.integer(Int64(target)), .integer(row)])
    }

    /// Adds documents to a target. Documents that came together have adjacent rows, so they become
    /// rows of the target together.
    ///
    /// - Parameter rows: The numbers of the documents' rows, without duplicates.
    func add(
        rows: [Int64], of target: Int32, _ transaction: StoreTransaction
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

    func remove(
        _ path: DocumentPath, of target: Int32, _ transaction: StoreTransaction
    ) throws {
        guard let held = try transaction.documents(of: database).version(at: path) else { return }
        try transaction.execute(
            "DELETE FROM syncTargetRow WHERE target = ? AND document = ?",
            [.integer(Int64(target)), .integer(held.row)])
    }

    /// Removes a document from the cache and from every target, because another document may take
    /// its row.
    func forget(_ path: DocumentPath, _ transaction: StoreTransaction) throws {
        let table = transaction.documents(of: database)
        guard let held = try table.version(at: path) else { return }
        try transaction.execute(
            "DELETE FROM syncTargetRow WHERE document = ?", [.integer(held.row)])
        try table.remove(path)
    }
}
