package import TidemarkModel

/// Access to the store inside one transaction. Must not be used after it.
package final class StoreTransaction {
    let connection: Connection

    init(connection: Connection) { self.connection = connection }

    /// Returns the documents of one database.
    package func documents(of database: DatabaseID) -> DocumentTable {
        DocumentTable(database: database, transaction: self)
    }

    /// Runs a statement on the caller's own tables.
    ///
    /// - Parameter last: A further argument, which is not copied and can therefore be long.
    package func execute(
        _ sql: String, _ arguments: [SQLValue] = [], last: [UInt8]? = nil
    ) throws(StoreError) {
        let statement = try connection.statement(text: sql)
        defer { statement.release() }
        if !statement.isReadOnly { try requireWriting() }
        try statement.bind(arguments, count: arguments.count + (last == nil ? 0 : 1))
        if let last {
            try statement.run(Int32(arguments.count + 1), last)
        } else {
            try statement.run()
        }
    }

    package func rows(_ sql: String, _ arguments: [SQLValue] = []) throws(StoreError) -> [SQLRow] {
        let statement = try connection.statement(text: sql)
        defer { statement.release() }
        if !statement.isReadOnly { try requireWriting() }
        try statement.bind(arguments)
        let columns = Int32(statement.columnCount)
        var rows: [SQLRow] = []
        while try statement.step() {
            rows.append(SQLRow(values: (0..<columns).map { statement.value($0) }))
        }
        return rows
    }

    /// Visits rows in place, one at a time. A long result costs no copies of its rows.
    package func visitRows(
        _ sql: String, _ arguments: [SQLValue] = [], _ body: (SQLRowInPlace) throws -> Void
    ) throws {
        let statement = try connection.statement(text: sql)
        defer { statement.release() }
        if !statement.isReadOnly { try requireWriting() }
        try statement.bind(arguments)
        while try statement.step() { try body(SQLRowInPlace(statement: statement)) }
    }

    package var lastInsertedRowID: Int64 { connection.lastInsertedRowID }
    /// True if the last insertion, update or deletion affected a row.
    package var hasChangedRows: Bool { connection.hasChangedRows }

    func requireWriting() throws(StoreError) {
        guard connection.isWriting else { throw .notWriting }
    }
}
