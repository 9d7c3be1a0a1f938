import TidemarkStore

/// A compiled statement of integers and blobs, for hundreds of thousands of rows.
final class RawStatement {
    private let statement: PreparedStatement
    /// Keeps the connection open.
    private let db: HealthConnection

    init(_ db: HealthConnection, _ sql: String) throws(StoreError) {
        self.db = db
        statement = try db.statement(sql)
    }

    deinit { statement.release() }

    func bind(_ place: Int32, _ value: Int64) { statement.bind(place, value) }

    /// Runs the statement, with a blob as the last argument, which SQLite does not copy.
    func run(_ place: Int32, blob: [UInt8]) throws(StoreError) { try statement.run(place, blob) }

    func run() throws(StoreError) { try statement.run() }

    /// - Returns: True if there was no conflict with a row.
    func runUnlessInConflict() throws(StoreError) -> Bool { try statement.runUnlessInConflict() }
}
