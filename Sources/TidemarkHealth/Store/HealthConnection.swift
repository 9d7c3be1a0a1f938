import CTidemarkSQLite
import TidemarkStore

/// A connection to the file of a ``HealthStore``, with the statements compiled on it.
// @unchecked: ``HealthDatabase`` lends a connection to one thread at a time.
final class HealthConnection: @unchecked Sendable {
    let handle: OpaquePointer
    private let connection: Connection

    enum Role { case writer, reader }

    /// The length of the log in pages from which a commit moves it into the file.
    private static let longestLog = 1_000

    init(_ path: String, _ role: Role) throws(StoreError) {
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
        let code = sqlite3_open_v2(path, &opened, flags, nil)
        guard let handle = opened else {
            throw .unreadable(detail: "no memory for a connection")
        }
        self.handle = handle
        connection = Connection(handle: handle, longestLog: Self.longestLog)
        guard code == SQLITE_OK else { throw connection.failure() }
        if role == .writer {
            let mode = try rows("PRAGMA journal_mode = WAL") { $0.text(0) }
            guard mode == ["wal"] else { throw .unreadable(detail: "no WAL here") }
        }
        try script("PRAGMA synchronous = NORMAL; PRAGMA cache_size = -2000")
        if role == .reader { try script("PRAGMA query_only = ON") }
    }

    deinit {
        connection.close()
        sqlite3_close_v2(handle)
    }

    /// Runs `body` between two statements. If it throws, or `keeps` is false for its result, its
    /// changes are rolled back.
    func transaction<Value>(
        _ begin: String, keeping keeps: (Value) -> Bool,
        _ body: (HealthConnection) throws -> Value
    ) throws -> Value {
        try execute(begin)
        do {
            let value = try body(self)
            guard keeps(value) else {
                try execute("ROLLBACK")
                return value
            }
            try execute("COMMIT")
            if connection.pagesInLog >= Self.longestLog { connection.moveLog() }
            return value
        } catch {
            // SQLite rolls back by itself after some errors.
            if sqlite3_get_autocommit(handle) == 0 { try? execute("ROLLBACK") }
            throw error
        }
    }
}

// MARK: - Statements

extension HealthConnection {
    /// Returns a compiled statement, which must be released after its use.
    func statement(_ sql: String) throws(StoreError) -> PreparedStatement {
        try connection.statement(text: sql)
    }

    /// Runs statements without arguments, which are not kept.
    func script(_ sql: String) throws(StoreError) {
        guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else {
            throw connection.failure()
        }
    }

    /// Runs a statement to its end.
    func execute(_ sql: String, _ arguments: [Int64] = []) throws(StoreError) {
        try execute(sql, values: arguments.map { .integer($0) })
    }

    func execute(_ sql: String, values: [SQLValue]) throws(StoreError) {
        let statement = try statement(sql)
        defer { statement.release() }
        try statement.bind(values)
        try statement.run()
    }

    /// Calls `body` for each row of a query. The statement's columns are valid during the call.
    func forEachRow<Failure>(
        _ sql: String, arguments: [Int64] = [],
        body: (PreparedStatement) throws(Failure) -> Void
    ) throws {
        let statement = try statement(sql)
        defer { statement.release() }
        try statement.bind(arguments.map { .integer($0) })
        while try statement.step() { try body(statement) }
    }

    /// Returns a value for each row of a query.
    func rows<Value>(
        _ sql: String, _ arguments: [Int64] = [], _ value: (PreparedStatement) -> Value
    ) throws(StoreError) -> [Value] {
        let statement = try statement(sql)
        defer { statement.release() }
        try statement.bind(arguments.map { .integer($0) })
        var values: [Value] = []
        while try statement.step() { values.append(value(statement)) }
        return values
    }

    /// Returns a value for the first row of a query; nil if there is no row.
    func row<Value>(
        _ sql: String, _ arguments: [Int64] = [], _ value: (PreparedStatement) -> Value
    ) throws(StoreError) -> Value? {
        let statement = try statement(sql)
        defer { statement.release() }
        try statement.bind(arguments.map { .integer($0) })
        return try statement.step() ? value(statement) : nil
    }

    /// Returns the first column of a query's first row; nil if there is no row, or a null in it.
    func integer(_ sql: String, _ arguments: [Int64] = []) throws(StoreError) -> Int64? {
        try row(sql, arguments) { $0.isNull(0) ? nil : $0.integer(0) } ?? nil
    }
}

extension RawRepresentable<UInt8> {
    /// The case of a stored number; nil if there is none.
    init?(number: Int64) {
        guard let value = UInt8(exactly: number) else { return nil }
        self.init(rawValue: value)
    }
}
