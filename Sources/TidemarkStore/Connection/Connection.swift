import Foundation
import CTidemarkSQLite

/// The only connection to the file, with its compiled statements and the caches of its tables.
///
/// The code calls SQLite directly: a point read costs a few microseconds, and a general row and
/// argument type would cost more than the rest.
// @unchecked: all mutable state is used only under the store's lock, by one thread at a time.
package final class Connection: @unchecked Sendable {
    private let handle: OpaquePointer
    private let own = OwnSQL.allCases.map { _ in StatementPool() }
    private var others = StatementTable()
    private var isSynced = false
    private(set) var isWriting = false
    /// True if a commit moves a long log into the file; false if the caller of the commit does so.
    var movesLog = true

    let catalog = Catalog()
    let indexing = IndexingState()
    /// The scans in progress.
    var watches = DocumentWatches()
    let figures = BlockFigures()

    private var isClosed = false
    /// The damage of a log that could not be moved into the file and would grow without bound.
    private var damage: StoreError?

    /// The maximum length of the log in pages.
    private let longestLog: Int
    private let log = LogLength()

    /// - Parameters:
    ///   - handle: The open database. The caller closes it, after ``close()``.
    ///   - longestLog: The length of the log in pages from which ``commit()`` moves it into the
    ///     file.
    package init(handle: OpaquePointer, longestLog: Int) {
        self.handle = handle
        self.longestLog = longestLog
        log.observe(handle)
    }

    package func close() {
        finalize()
        isClosed = true
    }

    func requireOpen() throws(StoreError) {
        if isClosed { throw .unreadable(detail: "the store is closed") }
        if let damage { throw damage }
    }

    /// Finalizes all statements, because open statements prevent closing the connection.
    func finalize() {
        for pool in own { pool.empty() }
        others.forget()
    }

    /// True if the last insertion, update or deletion affected a row.
    var hasChangedRows: Bool { sqlite3_changes(handle) > 0 }
    var lastInsertedRowID: Int64 { sqlite3_last_insert_rowid(handle) }

    /// Returns the error of the last failed call.
    package func failure() -> StoreError {
        let code = sqlite3_extended_errcode(handle)
        let systemCode = sqlite3_system_errno(handle)
        // SQLite does not know disk quotas, but an exceeded quota is a full disk.
        if code & 0xFF == SQLITE_IOERR, systemCode == EDQUOT { return .full }
        return StoreError(
            code: code, detail: String(cString: sqlite3_errmsg(handle)), systemCode: systemCode)
    }
}

// MARK: - Statements

extension Connection {
    func statement(_ sql: OwnSQL) throws(StoreError) -> PreparedStatement {
        let pool = own[sql.rawValue]
        if let statement = pool.take() { return statement }
        return try prepare(sql.text, pool)
    }

    package func statement(text: String) throws(StoreError) -> PreparedStatement {
        if let known = others[text] {
            if let statement = known.take() { return statement }
            return try prepare(text, known)
        }
        let new = StatementPool()
        let statement = try prepare(text, new)
        others.insert(text, new)
        return statement
    }

    private func prepare(
        _ text: String, _ pool: StatementPool
    ) throws(StoreError) -> PreparedStatement {
        var compiled: OpaquePointer?
        let code = sqlite3_prepare_v3(
            handle, text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &compiled, nil)
        guard code == SQLITE_OK else { throw failure() }
        guard let compiled else { throw .invalidStatement(detail: "no statement in: \(text)") }
        return PreparedStatement(handle: compiled, pool: pool, connection: self)
    }

    /// Runs a statement of the store to its end, with integer arguments.
    func run(_ sql: OwnSQL, _ arguments: Int64...) throws(StoreError) {
        let statement = try statement(sql)
        defer { statement.release() }
        for (index, value) in zip(Int32(1)..., arguments) { statement.bind(index, value) }
        try statement.run()
    }

    private func run(text: String) throws(StoreError) {
        guard sqlite3_exec(handle, text, nil, nil, nil) == SQLITE_OK else { throw failure() }
    }
}

// MARK: - Transactions

extension Connection {
    /// - Parameter synced: True if the commit must be on disk before it returns.
    func begin(synced: Bool) throws(StoreError) {
        try requireOpen()
        precondition(!isWriting)
        if synced != isSynced {
            try run(text: synced ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL")
            isSynced = synced
        }
        try run(.begin)
        isWriting = true
    }

    func commit() throws(StoreError) {
        precondition(isWriting)
        do throws(StoreError) { try run(.commit) } catch {
            rollback()
            throw error
        }
        isWriting = false
        if movesLog, log.pages >= longestLog { moveLog() }
    }

    /// The number of pages in the log that are not in the file.
    package var pagesInLog: Int { log.pages }

    /// Moves the log into the file. A failure is retried after a later commit. A damaged log makes
    /// every later use of the store fail.
    package func moveLog() {
        let code = sqlite3_wal_checkpoint_v2(
            handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
        log.pages = 0
        guard code != SQLITE_OK, case .corrupt = failure() else { return }
        damage = failure()
    }

    /// Rolls the transaction back, and clears the caches of its state.
    func rollback() {
        // SQLite rolls back automatically after some errors.
        if sqlite3_get_autocommit(handle) == 0 { try? run(.rollback) }
        isWriting = false
        forget()
    }

    private func forget() {
        catalog.forget()
        indexing.forget()
        figures.forget()
    }
}

// MARK: - Snapshots

extension Connection {
    func snapshot() throws(StoreError) -> StoreSnapshot {
        try requireOpen()
        return try StoreSnapshot(copying: handle)
    }

    func restore(_ snapshot: StoreSnapshot) throws(StoreError) {
        try requireOpen()
        precondition(!isWriting)
        // Compiled statements hold the pages for which they were compiled.
        finalize()
        defer {
            forget()
            loseDocuments()
        }
        try snapshot.write(to: handle)
    }
}

extension StoreError {
    static let notWriting = StoreError.invalidStatement(
        detail: "a write outside a write transaction")
}
