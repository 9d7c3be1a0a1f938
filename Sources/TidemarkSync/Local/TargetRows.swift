import TidemarkModel
import TidemarkStore

/// Which documents belong to which target, on disk.
struct TargetRows {
    let database: DatabaseID

    /// The rows of a target as of its last snapshot.
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

    /// A part of them, by the numbers of their rows.
    ///
    /// - Returns: The number of the last one too, nil without any; and whether no more follow.
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

    /// The first of them.
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

    /// A document that is not here is no row of anything.
    ///
    /// - Parameter row: The document's, where it is known.
    func add(
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

    /// Takes a document out of the cache, and out of every target: its row may become another's.
    func forget(_ path: DocumentPath, _ transaction: StoreTransaction) throws {
        let table = transaction.documents(of: database)
        guard let held = try table.version(at: path) else { return }
        try transaction.execute(
            "DELETE FROM syncTargetRow WHERE document = ?", [.integer(held.row)])
        try table.remove(path)
    }
}
