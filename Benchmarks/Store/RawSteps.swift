import GRDBSQLite

/// The same rows and reads in SQLite without the store: what cannot be beaten.
final class RawSteps {
    private var handle: OpaquePointer?
    private var insert: OpaquePointer?
    private var select: OpaquePointer?
    private var newest: OpaquePointer?
    private let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    init(_ path: String) {
        sqlite3_open(path, &handle)
        run(
            """
            PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
            PRAGMA wal_autocheckpoint = 4000; PRAGMA cache_size = -8000;
            CREATE TABLE message (id TEXT NOT NULL, time INTEGER NOT NULL, body BLOB NOT NULL);
            CREATE UNIQUE INDEX messageByID ON message (id);
            """)
        insert = prepare("INSERT INTO message VALUES (?, ?, ?)")
        select = prepare("SELECT body FROM message WHERE id = ?")
    }

    deinit {
        for statement in [insert, select, newest] { sqlite3_finalize(statement) }
        sqlite3_close(handle)
    }

    private func run(_ sql: String) {
        precondition(sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK)
    }

    private func prepare(_ sql: String) -> OpaquePointer? {
        var statement: OpaquePointer?
        precondition(sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK)
        return statement
    }

    func load(_ rows: [(id: String, time: Int64, body: [UInt8])]) {
        for start in stride(from: 0, to: rows.count, by: 500) {
            run("BEGIN")
            for row in rows[start..<min(start + 500, rows.count)] { put(row) }
            run("COMMIT")
        }
    }

    func put(_ row: (id: String, time: Int64, body: [UInt8])) {
        sqlite3_bind_text(insert, 1, row.id, -1, copied)
        sqlite3_bind_int64(insert, 2, row.time)
        sqlite3_bind_blob(insert, 3, row.body, Int32(row.body.count), copied)
        precondition(sqlite3_step(insert) == SQLITE_DONE)
        sqlite3_reset(insert)
    }

    func makeIndex() {
        run("CREATE INDEX messageByTime ON message (time)")
        newest = prepare("SELECT body FROM message ORDER BY time DESC LIMIT 50")
    }

    func point(_ id: String) -> Int {
        sqlite3_bind_text(select, 1, id, -1, copied)
        precondition(sqlite3_step(select) == SQLITE_ROW)
        defer { sqlite3_reset(select) }
        return body(select).count
    }

    func top() -> Int {
        var count = 0
        while sqlite3_step(newest) == SQLITE_ROW { count += body(newest).isEmpty ? 0 : 1 }
        sqlite3_reset(newest)
        return count
    }

    private func body(_ statement: OpaquePointer?) -> [UInt8] {
        let start = sqlite3_column_blob(statement, 0)
        return Array(
            UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, 0))))
    }
}
