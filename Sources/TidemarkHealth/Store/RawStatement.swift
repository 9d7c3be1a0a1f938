import GRDB
import GRDBSQLite

/// A statement of integers and blobs on GRDB's connection, for hundreds of thousands of rows.
final class RawStatement {
    private let handle: OpaquePointer
    private let connection: OpaquePointer

    init(_ db: Database, _ sql: String) throws {
        guard let connection = db.sqliteConnection else {
            throw HealthExportError.storage(detail: "the store is closed")
        }
        var compiled: OpaquePointer?
        let code = sqlite3_prepare_v2(connection, sql, -1, &compiled, nil)
        guard code == SQLITE_OK, let compiled else {
            throw HealthExportError.storage(detail: String(cString: sqlite3_errmsg(connection)))
        }
        handle = compiled
        self.connection = connection
    }

    deinit { sqlite3_finalize(handle) }

    func bind(_ place: Int32, _ value: Int64) { sqlite3_bind_int64(handle, place, value) }

    /// Runs it, with a blob as the last argument, which SQLite does not copy.
    func run(_ place: Int32, blob: [UInt8]) throws {
        try blob.withUnsafeBytes { bytes in
            sqlite3_bind_blob(handle, place, bytes.baseAddress, Int32(bytes.count), nil)
            try run()
        }
    }

    func run() throws {
        let code = sqlite3_step(handle)
        sqlite3_reset(handle)
        guard code == SQLITE_DONE else {
            throw HealthExportError.storage(detail: String(cString: sqlite3_errmsg(connection)))
        }
    }
}
