import GRDBSQLite

/// The compiled statements of one text that nobody uses at the moment.
final class TextStatements {
    private var idle: [PreparedStatement] = []
    /// Whether it was forgotten, so that nobody would find what comes back to it.
    private var isForgotten = false

    func take() -> PreparedStatement? { idle.popLast() }

    func takeBack(_ statement: PreparedStatement) {
        if isForgotten {
            sqlite3_finalize(statement.handle)
        } else {
            idle.append(statement)
        }
    }

    func forget() {
        for statement in idle { sqlite3_finalize(statement.handle) }
        idle = []
        isForgotten = true
    }
}

/// A text of SQL as a key. The program's own, and so compared as Swift compares texts: at once where it is
/// the same literal. Hashed by its length and its end: a hash of all of it took as long as a short
/// statement's run.
struct SQLText: Hashable {
    let text: String

    func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { bytes in
            hasher.combine(bytes.count)
            let end = UnsafeBufferPointer(rebasing: bytes.suffix(16))
            hasher.combine(bytes: UnsafeRawBufferPointer(end))
        }
    }
}

/// A compiled statement, on loan from its ``Connection`` until ``release()``.
final class PreparedStatement {
    /// Where it goes back to.
    enum Pool {
        case own(OwnSQL)
        case text(TextStatements)
    }

    let handle: OpaquePointer
    let pool: Pool
    private unowned let connection: Connection
    /// What two arguments lie in.
    private var range: HeldRange?

    init(handle: OpaquePointer, pool: Pool, connection: Connection) {
        self.handle = handle
        self.pool = pool
        self.connection = connection
    }

    /// Gives it back. Not to be used afterwards.
    func release() {
        sqlite3_reset(handle)
        connection.takeBack(self)
    }

    /// - Returns: Whether there is a row.
    func step() throws(StoreError) -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default: throw connection.failure()
        }
    }

    /// Runs to its end, and makes ready for other arguments.
    func run() throws(StoreError) {
        while try step() {}
        sqlite3_reset(handle)
    }

    /// As ``run()``, with an argument that SQLite need not copy.
    func run(_ index: Int32, _ value: [UInt8]) throws(StoreError) {
        try value.withUnsafeBufferPointer { buffer throws(StoreError) in
            bind(index, inPlace: UnsafeRawBufferPointer(buffer))
            try run()
        }
        bindNull(index)
    }

    func reset() { sqlite3_reset(handle) }

    var isReadOnly: Bool { sqlite3_stmt_readonly(handle) != 0 }
    var columnCount: Int { Int(sqlite3_column_count(handle)) }
    var parameterCount: Int { Int(sqlite3_bind_parameter_count(handle)) }
}

// MARK: - Arguments, counted from 1

extension PreparedStatement {
    /// SQLite copies what it is given: it may live shorter than the statement's run.
    private static var copied: sqlite3_destructor_type {
        unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    }

    func bind(_ index: Int32, _ value: Int64) { sqlite3_bind_int64(handle, index, value) }
    func bind(_ index: Int32, _ value: Int) { bind(index, Int64(value)) }
    func bindNull(_ index: Int32) { sqlite3_bind_null(handle, index) }

    func bind(_ index: Int32, _ value: String) {
        var value = value
        value.withUTF8 { buffer in
            buffer.withMemoryRebound(to: CChar.self) { text in
                _ = sqlite3_bind_text(
                    handle, index, text.baseAddress ?? Self.nothing, Int32(text.count), Self.copied)
            }
        }
    }

    func bind(_ index: Int32, _ value: [UInt8]) {
        if value.isEmpty {
            sqlite3_bind_zeroblob(handle, index, 0)
            return
        }
        value.withUnsafeBytes { buffer in
            _ = sqlite3_bind_blob64(
                handle, index, buffer.baseAddress, UInt64(buffer.count), Self.copied)
        }
    }

    /// Not copied: to stay where it is until the statement has run.
    func bind(_ index: Int32, inPlace value: UnsafeRawBufferPointer) {
        guard !value.isEmpty else { return bind(index, []) }
        _ = sqlite3_bind_blob64(handle, index, value.baseAddress, UInt64(value.count), nil)
    }

    /// Two arguments, which the statement holds on to.
    func bind(_ first: Int32, _ range: HeldRange) {
        bind(first, inPlace: range.lower)
        bind(first + 1, inPlace: range.upper)
        self.range = range
    }

    /// An address for a text without bytes, which would be null without one.
    private static var nothing: UnsafePointer<CChar> { UnsafePointer(bitPattern: 1)! }

    func bind(_ values: [SQLValue]) throws(StoreError) {
        if values.count != parameterCount {
            throw .invalidStatement(
                detail: "\(values.count) arguments for \(parameterCount) parameters")
        }
        for (index, value) in zip(Int32(1)..., values) {
            switch value {
            case .null: bindNull(index)
            case .integer(let value): bind(index, value)
            case .real(let value): sqlite3_bind_double(handle, index, value)
            case .text(let value): bind(index, value)
            case .blob(let value): bind(index, value)
            }
        }
    }
}

// MARK: - Columns, counted from 0

extension PreparedStatement {
    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

    func text(_ column: Int32) -> String {
        guard let start = sqlite3_column_text(handle, column) else { return "" }
        let count = Int(sqlite3_column_bytes(handle, column))
        return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    func blob(_ column: Int32) -> [UInt8] { Array(bytes(column)) }

    /// Valid until the next step.
    func bytes(_ column: Int32) -> UnsafeRawBufferPointer {
        let start = sqlite3_column_blob(handle, column)
        return UnsafeRawBufferPointer(
            start: start, count: Int(sqlite3_column_bytes(handle, column)))
    }

    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

    func value(_ column: Int32) -> SQLValue {
        switch sqlite3_column_type(handle, column) {
        case SQLITE_INTEGER: .integer(integer(column))
        case SQLITE_FLOAT: .real(sqlite3_column_double(handle, column))
        case SQLITE_TEXT: .text(text(column))
        case SQLITE_BLOB: .blob(blob(column))
        default: .null
        }
    }
}
