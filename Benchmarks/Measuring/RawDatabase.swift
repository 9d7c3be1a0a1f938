import CTidemarkSQLite
import TidemarkModel

/// The same rows and reads in plain SQLite, which is the lower limit of the time. Its log grows to
/// the length of ours before a commit moves it, because with SQLite's default of 1,000 pages it
/// loads at two thirds of the speed.
final class RawDatabase {
    private var handle: OpaquePointer?
    private var statements: [String: OpaquePointer] = [:]
    private let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    init(_ path: String) {
        precondition(sqlite3_open(path, &handle) == SQLITE_OK)
        run(
            """
            PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
            PRAGMA wal_autocheckpoint = 4000; PRAGMA cache_size = -16000;
            CREATE TABLE IF NOT EXISTS message (
                id TEXT NOT NULL, time INTEGER NOT NULL, conversation TEXT NOT NULL,
                body BLOB NOT NULL);
            CREATE UNIQUE INDEX IF NOT EXISTS messageByID ON message (id);
            """)
    }

    deinit {
        for statement in statements.values { sqlite3_finalize(statement) }
        sqlite3_close(handle)
    }

    private func run(_ sql: String) {
        precondition(sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK)
    }

    private func statement(_ sql: String) -> OpaquePointer {
        if let statement = statements[sql] { return statement }
        var statement: OpaquePointer?
        precondition(sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK)
        statements[sql] = statement!
        return statement!
    }

    /// Runs a statement without results. It is prepared once.
    private func perform(_ sql: String) {
        let statement = statement(sql)
        precondition(sqlite3_step(statement) == SQLITE_DONE)
        sqlite3_reset(statement)
    }

    private func inTransaction(_ body: () -> Void) {
        perform("BEGIN")
        body()
        perform("COMMIT")
    }

    /// The id and the body of a row.
    private struct Found {
        let id: String
        let body: [UInt8]
    }

    /// Passes on the body of every row, in the order of the table.
    func eachBody(_ take: ([UInt8]) -> Void) {
        let select = statement("SELECT body FROM message")
        while sqlite3_step(select) == SQLITE_ROW {
            take(
                Array(
                    UnsafeRawBufferPointer(
                        start: sqlite3_column_blob(select, 0),
                        count: Int(sqlite3_column_bytes(select, 0)))))
        }
        sqlite3_reset(select)
    }

    /// Reads all rows into memory, as an answer to a caller.
    ///
    /// - Parameter statement: Selects ids or NULL, and bodies.
    private func read(_ statement: OpaquePointer) -> Int {
        var found: [Found] = []
        while sqlite3_step(statement) == SQLITE_ROW {
            let body = UnsafeRawBufferPointer(
                start: sqlite3_column_blob(statement, 1),
                count: Int(sqlite3_column_bytes(statement, 1)))
            let id = sqlite3_column_text(statement, 0).map(String.init(cString:)) ?? ""
            found.append(Found(id: id, body: Array(body)))
        }
        sqlite3_reset(statement)
        return found.count
    }
}

extension RawDatabase {
    struct Row {
        let id: String
        let time: Int64
        let conversation: String
        let body: [UInt8]

        init(_ workload: Workload, _ number: Int, likes: Int? = nil) {
            id = workload.id(number)
            time = workload.seconds(number)
            conversation = workload.conversation(number)
            var fields = workload.fields(number)
            if let likes { fields["likes"] = .integer(Int64(likes)) }
            body = EncodedFields(fields).bytes
        }
    }

    func load(_ rows: [Row]) {
        for start in stride(from: 0, to: rows.count, by: 500) {
            inTransaction {
                for row in rows[start..<min(start + 500, rows.count)] { put(row) }
            }
        }
    }

    /// Inserts or replaces a row, in a separate transaction unless one is open.
    func put(_ row: Row) {
        let insert = statement("INSERT OR REPLACE INTO message VALUES (?, ?, ?, ?)")
        sqlite3_bind_text(insert, 1, row.id, -1, copied)
        sqlite3_bind_int64(insert, 2, row.time)
        sqlite3_bind_text(insert, 3, row.conversation, -1, copied)
        sqlite3_bind_blob(insert, 4, row.body, Int32(row.body.count), copied)
        precondition(sqlite3_step(insert) == SQLITE_DONE)
        sqlite3_reset(insert)
    }

    /// Replaces the bodies of existing rows in one commit.
    func rewrite(_ rows: [Row]) {
        inTransaction {
            let update = statement("UPDATE message SET body = ? WHERE id = ?")
            for row in rows {
                bind(row.body, to: update, 1)
                sqlite3_bind_text(update, 2, row.id, -1, copied)
                precondition(sqlite3_step(update) == SQLITE_DONE)
                sqlite3_reset(update)
            }
        }
    }

    private func bind(_ body: [UInt8], to statement: OpaquePointer, _ place: Int32) {
        body.withUnsafeBytes {
            _ = sqlite3_bind_blob(statement, place, $0.baseAddress, Int32($0.count), copied)
        }
    }

    /// Reads an existing row and replaces its body in one commit. The row stays in place, and no
    /// entry of an index changes.
    ///
    /// - Parameter token: The listen's resume token, which the same commit stores; nil for none.
    func update(_ row: Row, token: Int64? = nil) {
        inTransaction {
            let select = statement("SELECT rowid, body FROM message WHERE id = ?")
            sqlite3_bind_text(select, 1, row.id, -1, copied)
            precondition(sqlite3_step(select) == SQLITE_ROW && sqlite3_column_bytes(select, 1) > 0)
            let number = sqlite3_column_int64(select, 0)
            sqlite3_reset(select)
            let update = statement("UPDATE message SET body = ? WHERE rowid = ?")
            bind(row.body, to: update, 1)
            sqlite3_bind_int64(update, 2, number)
            precondition(sqlite3_step(update) == SQLITE_DONE && sqlite3_changes(handle) == 1)
            sqlite3_reset(update)
            if let token { note(token) }
        }
    }

    /// Makes the table with the listen's resume token for the next start.
    func makeToken() {
        run(
            """
            CREATE TABLE IF NOT EXISTS target (id INTEGER PRIMARY KEY, token INTEGER NOT NULL);
            INSERT OR IGNORE INTO target VALUES (1, 0)
            """)
    }

    private func note(_ token: Int64) {
        let update = statement("UPDATE target SET token = ? WHERE id = 1")
        sqlite3_bind_int64(update, 1, token)
        precondition(sqlite3_step(update) == SQLITE_DONE && sqlite3_changes(handle) == 1)
        sqlite3_reset(update)
    }

    /// Moves the content of the log into the file.
    func moveLog() { run("PRAGMA wal_checkpoint(PASSIVE)") }

    func syncEveryCommit(_ on: Bool) { run("PRAGMA synchronous = \(on ? "FULL" : "NORMAL")") }
    func indexConversations() {
        run("CREATE INDEX messageByConversation ON message (conversation, time)")
    }

    /// Inserts an index entry for each row, as a program does that reads rows without another
    /// index. The entries are inserted in their order, which is the fastest, and in one
    /// transaction.
    func enterConversations() {
        inTransaction {
            let select = statement(
                """
                SELECT conversation, time, rowid FROM message NOT INDEXED
                    ORDER BY conversation, time
                """)
            let insert = statement("INSERT INTO conversation VALUES (?, ?, ?)")
            while sqlite3_step(select) == SQLITE_ROW {
                sqlite3_bind_value(insert, 1, sqlite3_column_value(select, 0))
                sqlite3_bind_int64(insert, 2, sqlite3_column_int64(select, 1))
                sqlite3_bind_int64(insert, 3, sqlite3_column_int64(select, 2))
                precondition(sqlite3_step(insert) == SQLITE_DONE)
                sqlite3_reset(insert)
            }
            sqlite3_reset(select)
        }
    }

    func makeEntries() {
        run(
            """
            CREATE TABLE conversation (
                name TEXT NOT NULL, time INTEGER NOT NULL, message INTEGER NOT NULL,
                PRIMARY KEY (name, time, message)) WITHOUT ROWID
            """)
    }

    func indexTimes() { run("CREATE INDEX messageByTime ON message (time)") }

    func point(_ id: String) -> Int {
        let select = statement("SELECT NULL, body FROM message WHERE id = ?")
        sqlite3_bind_text(select, 1, id, -1, copied)
        return read(select)
    }

    func first() -> Int { read(statement("SELECT id, body FROM message ORDER BY id LIMIT 1")) }

    func top() -> Int {
        read(statement("SELECT id, body FROM message ORDER BY time DESC LIMIT 50"))
    }

    func newer(than time: Int64) -> Int {
        let select = statement(
            "SELECT id, body FROM message WHERE time > ? ORDER BY time DESC LIMIT 50")
        sqlite3_bind_int64(select, 1, time)
        return read(select)
    }

    func conversation(_ name: String) -> Int {
        let select = statement(
            "SELECT id, body FROM message WHERE conversation = ? ORDER BY time DESC LIMIT 50")
        sqlite3_bind_text(select, 1, name, -1, copied)
        return read(select)
    }
}

// The queue holds rows in transit, like a client's pending writes.
extension RawDatabase {
    func makeQueue() {
        run("CREATE TABLE IF NOT EXISTS queue (id INTEGER PRIMARY KEY, body BLOB NOT NULL)")
    }

    func emptyQueue() { run("DELETE FROM queue") }

    /// Adds a row to the queue in a separate transaction.
    func queue(_ row: Row) {
        let insert = statement("INSERT INTO queue (body) VALUES (?)")
        sqlite3_bind_blob(insert, 1, row.body, Int32(row.body.count), copied)
        precondition(sqlite3_step(insert) == SQLITE_DONE)
        sqlite3_reset(insert)
    }

    func queued() -> Int { read(statement("SELECT NULL, body FROM queue ORDER BY id")) }

    /// Removes the oldest row from the queue and adds it to the others, in one transaction.
    func acknowledge(_ row: Row) {
        inTransaction {
            put(row)
            perform("DELETE FROM queue WHERE id = (SELECT min(id) FROM queue)")
        }
    }
}
