import CTidemarkSQLite

/// A value in a row, or an argument of a statement.
package enum SQLValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])
}

/// A row that a statement returned. The schema fixes the types of columns; another type means a
/// damaged file and throws.
package struct SQLRow: Sendable {
    package let values: [SQLValue]

    package func integer(_ column: Int) throws(StoreError) -> Int64 {
        guard case .integer(let value) = values[column] else { throw damaged(column, "integer") }
        return value
    }

    package func text(_ column: Int) throws(StoreError) -> String {
        guard case .text(let value) = values[column] else { throw damaged(column, "text") }
        return value
    }

    package func blob(_ column: Int) throws(StoreError) -> [UInt8] {
        guard case .blob(let value) = values[column] else { throw damaged(column, "blob") }
        return value
    }

    private func damaged(_ column: Int, _ kind: String) -> StoreError {
        .corrupt(detail: "column \(column) of a row is not \(kind)")
    }

    package func isNull(_ column: Int) -> Bool { values[column] == .null }
}

/// The present row of a running statement, valid until its next step.
package struct SQLRowInPlace {
    let statement: PreparedStatement

    package func integer(_ column: Int32) throws(StoreError) -> Int64 {
        guard statement.type(column) == SQLITE_INTEGER else { throw damaged(column, "integer") }
        return statement.integer(column)
    }

    /// Returns the bytes of a column, valid as long as the row.
    package func bytes(_ column: Int32) throws(StoreError) -> UnsafeBufferPointer<UInt8> {
        guard statement.type(column) == SQLITE_BLOB else { throw damaged(column, "blob") }
        return statement.bytes(column).bindMemory(to: UInt8.self)
    }

    package func isNull(_ column: Int32) -> Bool { statement.isNull(column) }

    /// Returns a copy of the first columns.
    package func copy(columns: Int32) -> SQLRow {
        SQLRow(values: (0..<columns).map { statement.value($0) })
    }

    private func damaged(_ column: Int32, _ kind: String) -> StoreError {
        .corrupt(detail: "column \(column) of a row is not \(kind)")
    }
}

/// A step of a schema besides the store's own. Append only: a released step is never edited.
package struct StoreMigration: Sendable {
    package let name: String
    package let sql: String

    package init(_ name: String, sql: String) {
        self.name = name
        self.sql = sql
    }
}
