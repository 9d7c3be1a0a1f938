import Foundation
import GRDB
import GRDBSQLite

/// The open database. GRDB makes it and brings it to the newest schema; a file that has that schema
/// is opened by SQLite alone, because what GRDB sets up for its own statements, of which there are
/// none here, was more than half of what an app waits for at its start (Decisions/0019). And its log is
/// written through a buffer (``BufferedLog``), which GRDB cannot be asked for.
// @unchecked: used and closed within the store's lock.
final class StoreFile: @unchecked Sendable {
    let handle: OpaquePointer
    /// Whose handle it is; nil for this one's own.
    private let queue: DatabaseQueue?
    private var isClosed = false

    private init(_ queue: DatabaseQueue) {
        handle = queue.writeWithoutTransaction { $0.sqliteConnection! }
        self.queue = queue
        // For observers of GRDB's, which there are none of; they want its queue.
        sqlite3_commit_hook(handle, nil, nil)
        sqlite3_rollback_hook(handle, nil, nil)
        sqlite3_set_authorizer(handle, nil, nil)
    }

    private init(owning handle: OpaquePointer) {
        self.handle = handle
        queue = nil
    }

    deinit { if queue == nil, !isClosed { sqlite3_close_v2(handle) } }

    /// Ends the use of the file, of which no compiled statement is left. Again, it does nothing.
    func close() throws(StoreError) {
        if isClosed { return }
        if let queue {
            do { try queue.close() } catch { throw StoreError(error) }
        } else {
            try check(sqlite3_close(handle))
        }
        isClosed = true
    }
}

extension StoreFile {
    /// - Throws: ``StoreError`` or GRDB's, having changed nothing.
    static func open(
        _ location: DocumentStore.Location, _ tuning: DocumentStore.Tuning,
        _ migrations: [StoreMigration]
    ) throws -> StoreFile {
        // Where it has another schema, is not there or fails in any way, GRDB says which.
        if case .file(let path) = location, let file = try? opened(path),
            (try? file.migrations()) == DatabaseMigrator.storeMigrations + migrations.map(\.name)
        {
            try file.configure(location, tuning)
            return file
        }
        let migrator = DatabaseMigrator.store(then: migrations)
        let queue = try openQueue(location)
        if try queue.read(migrator.hasBeenSuperseded) { throw StoreError.newerSchema }
        let made = StoreFile(queue)
        try made.configure(location, tuning)
        try migrator.migrate(queue)
        guard case .file(let path) = location else { return made }
        try made.close()
        let file = try opened(path)
        try file.configure(location, tuning)
        return file
    }

    /// A file that is there, by SQLite alone.
    private static func opened(_ path: String) throws(StoreError) -> StoreFile {
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX
        let layer = StoreLayer.name.map { BufferedLog.name(over: $0) } ?? BufferedLog.name
        let code = sqlite3_open_v2(path, &opened, flags, layer)
        guard let handle = opened else { throw StoreError(code: code, detail: "no memory") }
        let file = StoreFile(owning: handle)
        try file.check(code)
        try file.execute(lone)
        return file
    }

    /// Those that were done, in their order, as GRDB writes them down.
    private func migrations() throws(StoreError) -> [String] {
        try texts("SELECT identifier FROM grdb_migrations ORDER BY rowid")
    }

    /// Without other readers, the lock is taken once and not for every transaction.
    private static let lone = "PRAGMA locking_mode = EXCLUSIVE"

    private static func openQueue(_ location: DocumentStore.Location) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        #if os(iOS)
            // It would come to the connection from beside.
            configuration.automaticMemoryManagement = false
        #endif
        configuration.prepareDatabase { try $0.execute(sql: lone) }
        switch location {
        case .memory: return try DatabaseQueue(configuration: configuration)
        case .file(let path):
            try FileManager.default.createDirectory(
                at: URL(fileURLWithPath: path).deletingLastPathComponent(),
                withIntermediateDirectories: true)
            return try DatabaseQueue(
                path: StoreLayer.address(of: path), configuration: configuration)
        }
    }

    private func configure(
        _ location: DocumentStore.Location, _ tuning: DocumentStore.Tuning
    ) throws(StoreError) {
        if location != .memory, try texts("PRAGMA journal_mode = WAL") != ["wal"] {
            throw .unreadable(detail: "no WAL here")
        }
        // How far commits are synced is known before any transaction, so that the first need not ask.
        try execute(
            """
            PRAGMA wal_autocheckpoint = \(tuning.logPages);
            PRAGMA journal_size_limit = \(tuning.longestLog * 6_144);
            PRAGMA cache_size = -\(tuning.cacheKibibytes);
            PRAGMA secure_delete = FAST;
            PRAGMA temp_store = MEMORY;
            PRAGMA cell_size_check = ON;
            PRAGMA synchronous = NORMAL;
            BEGIN EXCLUSIVE; COMMIT;
            """)
    }
}

// MARK: - Before there is a connection

extension StoreFile {
    private func execute(_ sql: String) throws(StoreError) {
        try check(sqlite3_exec(handle, sql, nil, nil, nil))
    }

    private func check(_ code: Int32) throws(StoreError) {
        guard code != SQLITE_OK else { return }
        let code = sqlite3_extended_errcode(handle)
        throw StoreError(code: code, detail: String(cString: sqlite3_errmsg(handle)))
    }

    /// The first column of all rows.
    private func texts(_ sql: String) throws(StoreError) -> [String] {
        var compiled: OpaquePointer?
        try check(sqlite3_prepare_v2(handle, sql, -1, &compiled, nil))
        defer { sqlite3_finalize(compiled) }
        var texts: [String] = []
        while true {
            switch sqlite3_step(compiled) {
            case SQLITE_ROW: texts.append(sqlite3_column_text(compiled, 0).map(String.init) ?? "")
            case SQLITE_DONE: return texts
            default: try check(SQLITE_ERROR)
            }
        }
    }
}
