import CTidemarkSQLite

/// The contents of a store at one moment, in memory: a copy of its pages.
// @unchecked: only the store that copies from or to the handle uses it, under the store's lock, and
// SQLite's own lock separates two stores that restore the same snapshot.
package final class StoreSnapshot: @unchecked Sendable {
    private let handle: OpaquePointer

    init(copying source: OpaquePointer) throws(StoreError) {
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX
        let code = sqlite3_open_v2(":memory:", &opened, flags, nil)
        guard code == SQLITE_OK, let opened else {
            sqlite3_close(opened)
            throw StoreError(code: code, detail: "no memory for a snapshot")
        }
        handle = opened
        try Self.copy(from: source, to: opened)
    }

    deinit { sqlite3_close(handle) }

    /// Replaces the contents of `target` with those of the snapshot.
    func write(to target: OpaquePointer) throws(StoreError) {
        try Self.copy(from: handle, to: target)
    }

    private static func copy(
        from source: OpaquePointer, to target: OpaquePointer
    ) throws(StoreError) {
        guard let backup = sqlite3_backup_init(target, "main", source, "main") else {
            throw StoreError(
                code: sqlite3_extended_errcode(target),
                detail: String(cString: sqlite3_errmsg(target)))
        }
        _ = sqlite3_backup_step(backup, -1)
        let code = sqlite3_backup_finish(backup)
        guard code == SQLITE_OK else {
            throw StoreError(code: code, detail: String(cString: sqlite3_errmsg(target)))
        }
    }
}

extension DocumentStore {
    /// Copies every page of the store.
    package func snapshot() throws(StoreError) -> StoreSnapshot {
        try withConnection { connection throws(StoreError) in try connection.snapshot() }
    }

    /// Restores the contents of the snapshot, and drops everything written since. Copies every page
    /// of the snapshot.
    ///
    /// - Throws: An error if the copy fails; the store then keeps its contents.
    package func restore(_ snapshot: StoreSnapshot) throws(StoreError) {
        try withConnection { connection throws(StoreError) in try connection.restore(snapshot) }
    }
}
