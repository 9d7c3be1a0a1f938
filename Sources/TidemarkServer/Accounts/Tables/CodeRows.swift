import TidemarkStore

/// The rows of one project in a table of codes. Rows expire, and only the newest are kept: of an
/// owner, such as an address, and of the project.
///
/// The table has the columns `id`, which grows, `project` and `createdAt`.
struct CodeRows {
    /// The maximum number of rows of a project.
    private static let maxInAll: Int64 = 10_000

    let table: String
    let project: String
    /// The lifetime of a row, in milliseconds.
    let lifetime: Int64
    let transaction: StoreTransaction

    /// Deletes expired rows, and the oldest rows for which a new row leaves no room.
    ///
    /// - Parameters:
    ///   - time: The time of the new row, in milliseconds since 1970.
    ///   - column: The column with the owner of a row.
    ///   - owner: The owner of the new row.
    ///   - most: The maximum number of rows of an owner.
    func makeRoom(
        at time: Int64, column: String, owner: SQLValue, most: Int64
    ) throws(StoreError) {
        try transaction.execute(
            "DELETE FROM \(table) WHERE project = ? AND createdAt < ?",
            [.text(project), .integer(time - lifetime)])
        try transaction.execute(
            """
            DELETE FROM \(table) WHERE id IN (SELECT id FROM \(table) WHERE project = ?
            AND \(column) = ? ORDER BY id DESC LIMIT -1 OFFSET ?)
            """, [.text(project), owner, .integer(most - 1)])
        try transaction.execute(
            """
            DELETE FROM \(table) WHERE project = ? AND id <= (SELECT id FROM \(table)
            WHERE project = ? ORDER BY id DESC LIMIT 1 OFFSET ?)
            """, [.text(project), .text(project), .integer(Self.maxInAll - 1)])
    }

    func setFailures(of row: Int64, to failures: Int64) throws(StoreError) {
        try transaction.execute(
            "UPDATE \(table) SET failures = ? WHERE id = ?", [.integer(failures), .integer(row)])
    }

    func delete(_ row: Int64) throws(StoreError) {
        try transaction.execute("DELETE FROM \(table) WHERE id = ?", [.integer(row)])
    }
}
