import GRDBSQLite

/// How long SQLite's log was after the last commit. In the place of SQLite's own rule for moving it into
/// the file, which knows no moment at which nobody waits.
// A class, because SQLite is given its address; the connection keeps it for as long as it lives.
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
