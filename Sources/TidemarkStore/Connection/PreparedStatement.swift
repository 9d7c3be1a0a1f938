import CTidemarkSQLite

/// A compiled statement, borrowed from its ``Connection`` until ``release()``.
package final class PreparedStatement {
    let handle: OpaquePointer
    /// The pool to which the statement returns.
    private let pool: StatementPool
    /// The next statement in the pool's list.
    var next: PreparedStatement?
    private unowned let connection: Connection
    /// The memory of two bound arguments.
    private var range: HeldRange?

    init(handle: OpaquePointer, pool: StatementPool, connection: Connection) {
        self.handle = handle
        self.pool = pool
        self.connection = connection
    }

    /// Returns the statement to its pool. It must not be used afterwards.
    package func release() {
        sqlite3_reset(handle)
        pool.takeBack(self)
    }

    /// - Returns: True if there is a row.
    package func step() throws(StoreError) -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default: throw connection.failure()
        }
    }

    /// Runs to the end, and resets the statement for other arguments.
    package func run() throws(StoreError) {
        while try step() {}
        sqlite3_reset(handle)
    }

    /// Like ``run()``, with an argument that SQLite does not copy.
    package func run(_ index: Int32, _ value: [UInt8]) throws(StoreError) {
        try value.withUnsafeBufferPointer { buffer throws(StoreError) in
            bind(index, inPlace: UnsafeRawBufferPointer(buffer))
            try run()
        }
        bindNull(index)
    }

    /// Like ``run()``, for a statement that keeps its effects up to a conflict with an existing
    /// row.
    ///
    /// - Returns: True if there was no conflict.
    package func runUnlessInConflict() throws(StoreError) -> Bool {
        let code = sqlite3_step(handle)
        defer { sqlite3_reset(handle) }
        switch code & 0xFF {
        case SQLITE_DONE: return true
        case SQLITE_CONSTRAINT: return false
        default: throw connection.failure()
        }
    }

    func reset() { sqlite3_reset(handle) }

    var isReadOnly: Bool { sqlite3_stmt_readonly(handle) != 0 }
    var columnCount: Int { Int(sqlite3_column_count(handle)) }
    var parameterCount: Int { Int(sqlite3_bind_parameter_count(handle)) }
}

// MARK: - Arguments, counted from 1

extension PreparedStatement {
    /// Makes SQLite copy an argument, which may therefore be freed before the statement runs.
    private static var copied: sqlite3_destructor_type {
        unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    }

    package func bind(_ index: Int32, _ value: Int64) { sqlite3_bind_int64(handle, index, value) }
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

    /// Binds bytes without a copy. They must stay in place until the statement has run.
    func bind(_ index: Int32, inPlace value: UnsafeRawBufferPointer) {
        guard !value.isEmpty else { return bind(index, []) }
        _ = sqlite3_bind_blob64(handle, index, value.baseAddress, UInt64(value.count), nil)
    }

    /// Binds the two ends of a range, which the statement keeps alive.
    func bind(_ first: Int32, _ range: HeldRange) {
        bind(first, inPlace: range.lower)
        bind(first + 1, inPlace: range.upper)
        self.range = range
    }

    /// A non-null address for a text without bytes, which would otherwise be bound as null.
    private static var nothing: UnsafePointer<CChar> { UnsafePointer(bitPattern: 1)! }

    /// - Parameter count: The number of all arguments, if some are bound separately.
    package func bind(_ values: [SQLValue], count: Int? = nil) throws(StoreError) {
        let count = count ?? values.count
        if count != parameterCount {
            throw .invalidStatement(
                detail: "\(count) arguments for \(parameterCount) parameters")
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
    package func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

    package func text(_ column: Int32) -> String {
        guard let start = sqlite3_column_text(handle, column) else { return "" }
        let count = Int(sqlite3_column_bytes(handle, column))
        return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    package func blob(_ column: Int32) -> [UInt8] { Array(bytes(column)) }

    /// Returns the bytes of a column, valid until the next step.
    package func bytes(_ column: Int32) -> UnsafeRawBufferPointer {
        let start = sqlite3_column_blob(handle, column)
        return UnsafeRawBufferPointer(
            start: start, count: Int(sqlite3_column_bytes(handle, column)))
    }

    package func isNull(_ column: Int32) -> Bool { type(column) == SQLITE_NULL }

    /// Returns one of SQLite's numbers of types.
    func type(_ column: Int32) -> Int32 { sqlite3_column_type(handle, column) }

    func value(_ column: Int32) -> SQLValue {
        switch type(column) {
        case SQLITE_INTEGER: .integer(integer(column))
        case SQLITE_FLOAT: .real(sqlite3_column_double(handle, column))
        case SQLITE_TEXT: .text(text(column))
        case SQLITE_BLOB: .blob(blob(column))
        default: .null
        }
    }
}
