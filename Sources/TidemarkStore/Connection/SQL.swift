/// A value in a row or an argument of a statement.
package enum SQLValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])
}

/// A row that a statement returned. The accessors trap on another type: the schema is ours.
package struct SQLRow: Sendable {
    package let values: [SQLValue]

    package func integer(_ column: Int) -> Int64 {
        guard case .integer(let value) = values[column] else { preconditionFailure("no integer") }
        return value
    }

    package func text(_ column: Int) -> String {
        guard case .text(let value) = values[column] else { preconditionFailure("no text") }
        return value
    }

    package func blob(_ column: Int) -> [UInt8] {
        guard case .blob(let value) = values[column] else { preconditionFailure("no blob") }
        return value
    }

    package func isNull(_ column: Int) -> Bool { values[column] == .null }
}

/// A step of a schema, beside the store's own. Append only: a released step is never edited.
package struct StoreMigration: Sendable {
    package let name: String
    package let sql: String

    package init(_ name: String, sql: String) {
        self.name = name
        self.sql = sql
    }
}
