import CTidemarkSQLite

/// The length of SQLite's log after the last commit. Replaces SQLite's own rule for moving the log
/// into the file, which does not know when no caller waits.
// A class, because SQLite gets its address. The connection keeps the object alive.
final class LogLength {
    var pages = 0

    func observe(_ handle: OpaquePointer) {
        sqlite3_wal_hook(
            handle,
            { context, _, _, pages in
                Unmanaged<LogLength>.fromOpaque(context!).takeUnretainedValue().pages = Int(pages)
                return SQLITE_OK
            }, Unmanaged.passUnretained(self).toOpaque())
    }
}
