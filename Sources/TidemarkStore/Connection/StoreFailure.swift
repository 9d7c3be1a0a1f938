import Foundation
import CTidemarkSQLite

extension StoreError {
    /// Converts a result code of SQLite.
    ///
    /// - Parameters:
    ///   - code: The extended code.
    ///   - detail: SQLite's own message.
    ///   - systemCode: The `errno` of the call that failed; 0 if unknown.
    init(code: Int32, detail: String, systemCode: Int32 = 0) {
        if code == LayeredFile.damaged {
            self = .corrupt(detail: "a page is not as it was written")
            return
        }
        switch code & 0xFF {
        case SQLITE_FULL: self = .full
        // Apple's systems report a protected file with SQLite's own codes, or by the system's
        // refusal below SQLite.
        case SQLITE_AUTH, SQLITE_PERM: self = .protected
        case SQLITE_CANTOPEN where systemCode == EPERM: self = .protected
        case SQLITE_IOERR where systemCode == EPERM: self = .protected
        case SQLITE_BUSY, SQLITE_LOCKED: self = .locked
        case SQLITE_CORRUPT, SQLITE_NOTADB: self = .corrupt(detail: detail)
        case SQLITE_IOERR, SQLITE_CANTOPEN, SQLITE_READONLY, SQLITE_NOMEM, SQLITE_NOLFS,
            SQLITE_PROTOCOL:
            self = .unreadable(detail: detail)
        default: self = .invalidStatement(detail: detail)
        }
    }

    /// Converts any error thrown below the store.
    init(_ error: any Error) {
        switch error {
        case let error as StoreError: self = error
        case let error as CocoaError where error.code == .fileWriteOutOfSpace: self = .full
        default: self = .unreadable(detail: "\(error)")
        }
    }
}
