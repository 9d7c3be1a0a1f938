import CTidemarkSQLite

/// A health store's tables and indexes in plain SQLite, with the store's settings and without its
/// code. This is the lower limit of the time: each row is inserted by a statement that is prepared
/// once, and nothing is looked up before.
final class PlainHealth {
    private var handle: OpaquePointer?
    private var statements: [String: OpaquePointer] = [:]
    private let original: String
    private let tables: [String]

    /// Creates the tables and indexes of a store's file.
    ///
    /// - Parameters:
    ///   - path: The new file.
    ///   - original: The file of the store. The names of sources and zones are copied from it.
    init(_ path: String, like original: String) {
        self.original = original
        var (tables, schema): ([String], [String]) = ([], [])
        PlainFile(original).read(
            "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid"
        ) { row in
            schema.append(row.text(2))
            if row.text(0) == "table" { tables.append(row.text(1)) }
        }
        self.tables = tables
        precondition(sqlite3_open(path, &handle) == SQLITE_OK)
        run("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -2000")
        for sql in schema { run(sql) }
        attached {
            for table in ["source", "zone", "migration"] where tables.contains(table) {
                run("INSERT INTO \(table) SELECT * FROM ours.\(table)")
            }
        }
    }

    deinit {
        for statement in statements.values { sqlite3_finalize(statement) }
        sqlite3_close(handle)
    }

    /// Writes the rows of a transaction.
    func write(_ rows: PlainHealthRows.Transaction) {
        step(statement("BEGIN IMMEDIATE"))
        insert(rows.samples, "INSERT INTO sample VALUES (?, ?, ?, ?, ?)", columns: 5)
        let insertDay = statement("INSERT INTO measurements VALUES (?, ?, ?)")
        for day in rows.days {
            sqlite3_bind_int64(insertDay, 1, day.kind)
            sqlite3_bind_int64(insertDay, 2, day.number)
            step(insertDay, blob: day.samples, 3)
        }
        insert(
            rows.hours, "INSERT INTO hour VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", columns: 12)
        insert(rows.changed, "INSERT INTO changed VALUES (?, ?)", columns: 2)
        if let anchor = rows.anchor {
            let insertAnchor = statement("INSERT OR REPLACE INTO anchor VALUES (?, ?)")
            sqlite3_bind_int64(insertAnchor, 1, anchor.kind)
            step(insertAnchor, blob: anchor.data, 2)
        }
        step(statement("COMMIT"))
    }

    /// Reads the mean of each of seven days from their hours.
    ///
    /// - Returns: The number of days with a value.
    func week(_ kind: Int64, to last: Int64) -> Int {
        let select = statement(
            """
            SELECT day, sum(sum), sum(count), min(minimum), max(maximum) FROM hour
            WHERE kind = ? AND day BETWEEN ? AND ? GROUP BY day
            """)
        sqlite3_bind_int64(select, 1, kind)
        sqlite3_bind_int64(select, 2, last - 6)
        sqlite3_bind_int64(select, 3, last)
        var means: [Double] = []
        while sqlite3_step(select) == SQLITE_ROW {
            means.append(
                Double(sqlite3_column_int64(select, 1)) / Double(sqlite3_column_int64(select, 2)))
        }
        sqlite3_reset(select)
        return means.count { $0 > 0 }
    }

    /// Stops the program if a table differs from the store's.
    func requireSameRows() {
        attached {
            for table in tables {
                for (some, others) in [("main", "ours"), ("ours", "main")] {
                    let select = statement(
                        """
                        SELECT count(*) FROM (
                            SELECT * FROM \(some).\(table) EXCEPT SELECT * FROM \(others).\(table))
                        """)
                    precondition(sqlite3_step(select) == SQLITE_ROW)
                    let count = sqlite3_column_int64(select, 0)
                    precondition(count == 0, "\(count) rows of \(table) are in \(some) alone")
                    sqlite3_finalize(select)
                    statements = statements.filter { $0.value != select }
                }
            }
        }
    }

    private func attached(_ body: () -> Void) {
        run("ATTACH DATABASE '\(original)' AS ours")
        body()
        run("DETACH DATABASE ours")
    }

    private func run(_ sql: String) {
        precondition(sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK, sql)
    }

    private func statement(_ sql: String) -> OpaquePointer {
        if let statement = statements[sql] { return statement }
        var statement: OpaquePointer?
        precondition(sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK, sql)
        statements[sql] = statement!
        return statement!
    }

    private func step(_ statement: OpaquePointer) {
        precondition(sqlite3_step(statement) == SQLITE_DONE)
        sqlite3_reset(statement)
    }

    /// Runs a statement with a blob, which SQLite does not copy.
    private func step(_ statement: OpaquePointer, blob: [UInt8], _ place: Int32) {
        blob.withUnsafeBytes {
            sqlite3_bind_blob(statement, place, $0.baseAddress, Int32($0.count), nil)
            step(statement)
        }
    }

    /// - Parameters:
    ///   - values: The values of all rows, one row after the other.
    ///   - sql: The statement that inserts a row.
    ///   - columns: The number of values in a row.
    private func insert(_ values: [Int64], _ sql: String, columns: Int) {
        let insert = statement(sql)
        for start in stride(from: 0, to: values.count, by: columns) {
            for column in 0..<columns {
                sqlite3_bind_int64(insert, Int32(column + 1), values[start + column])
            }
            step(insert)
        }
    }
}
