import Foundation
import CTidemarkSQLite

/// The open database: SQLite's connection to a file, through this library's ``FileLayer``, or to
/// memory.
// @unchecked: used and closed under the store's lock.
final class StoreFile: @unchecked Sendable {
    let handle: OpaquePointer
    private var isClosed = false

    private init(owning handle: OpaquePointer) { self.handle = handle }

    deinit { if !isClosed { sqlite3_close_v2(handle) } }

    /// Closes the file, after all compiled statements are finalized. A second call does nothing.
    func close() throws(StoreError) {
        if isClosed { return }
        try check(sqlite3_close(handle))
        isClosed = true
    }
}

extension StoreFile {
    /// Opens the file, and migrates it to the newest schema.
    ///
    /// - Parameter key: Provides the key of a file; nil if the file is not encrypted.
    /// - Throws: ``StoreError``. A file that is damaged, newer or encrypted with another key is not
    ///   changed.
    static func open(
        _ location: DocumentStore.Location, tuning: DocumentStore.Tuning,
        migrations: [StoreMigration], key: StoreKeySource? = nil
    ) throws(StoreError) -> StoreFile {
        let key = location == .memory ? nil : try key.map(ask)
        let file = try opened(location, key)
        try file.execute(lone)
        let steps = StoreMigration.ofStore + migrations
        let (done, isNamedOld) = try file.doneMigrations()
        if !Set(done).isSubset(of: steps.map(\.name)) { throw .newerSchema }
        if done.isEmpty, location != .memory { file.reserve(isSealed: key != nil) }
        try file.configure(location, tuning)
        if isNamedOld { try file.renameMigrations() }
        if done.count < steps.count {
            for step in steps where !done.contains(step.name) { try file.perform(step) }
        }
        return file
    }

    static func ask(_ source: StoreKeySource) throws(StoreError) -> any StoreKey {
        do { return try source() } catch { throw .keyUnavailable(detail: "\(error)") }
    }

    /// Makes a new database reserve space at the end of its pages.
    private func reserve(isSealed: Bool) {
        // Without this library's layer, the reserved space would not be used.
        if isSealed {
            SealedDatabase.reserve(in: handle)
        } else if Self.layer != nil {
            OpenDatabase.reserve(in: handle)
        }
    }

    static func opened(
        _ location: DocumentStore.Location, _ key: (any StoreKey)?
    ) throws(StoreError) -> StoreFile {
        var flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
        switch location {
        case .memory:
            flags |= SQLITE_OPEN_MEMORY
            return try opened(":memory:", flags: flags, layer: nil)
        case .file(let path):
            if access(path, F_OK) != 0 { try makeFolder(of: path) }
            makePrivate(path)
            return try opened(path, flags: flags, layer: layer, key: key)
        }
    }

    private static var layer: UnsafePointer<CChar>? {
        StoreLayer.name.map { FileLayer.name(over: $0) } ?? FileLayer.name
    }

    private static func opened(
        _ path: String, flags: Int32, layer: UnsafePointer<CChar>?, key: (any StoreKey)? = nil
    ) throws(StoreError) -> StoreFile {
        var opened: OpaquePointer?
        let code = FileLayer.$key.withValue(key) {
            sqlite3_open_v2(path, &opened, flags, layer)
        }
        guard let handle = opened else { throw StoreError(code: code, detail: "no memory") }
        let file = StoreFile(owning: handle)
        try file.check(code)
        if key != nil { try SealedDatabase.requireKey(of: handle) }
        return file
    }

    private static func makeFolder(of path: String) throws(StoreError) {
        do {
            try FileManager.default.createDirectory(
                at: URL(fileURLWithPath: path).deletingLastPathComponent(),
                withIntermediateDirectories: true)
        } catch { throw StoreError(error) }
    }

    /// Makes the file accessible to this user only, like the log, for which SQLite copies the
    /// file's permissions. Errors are ignored, because opening the file fails for the same reason
    /// and reports it.
    static func makePrivate(_ path: String) {
        // Opens only a new file: closing a descriptor of an existing file would release the locks
        // that this process may hold on it.
        let new = Foundation.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if new >= 0 {
            _ = Foundation.close(new)
            return
        }
        var status = stat()
        if stat(path, &status) == 0, status.st_mode & 0o077 != 0 { _ = chmod(path, 0o600) }
    }

    /// The file has no other readers, so the lock is taken once and not for every transaction.
    private static let lone = "PRAGMA locking_mode = EXCLUSIVE"

    private func configure(
        _ location: DocumentStore.Location, _ tuning: DocumentStore.Tuning
    ) throws(StoreError) {
        if location != .memory, try texts("PRAGMA journal_mode = WAL") != ["wal"] {
            throw .unreadable(detail: "no WAL here")
        }
        // Sets the sync level before any transaction, so that the first one need not ask for it.
        try execute(
            """
            PRAGMA wal_autocheckpoint = \(tuning.logPages);
            PRAGMA journal_size_limit = \(tuning.longestLog * 6_144);
            PRAGMA cache_size = -\(tuning.cacheKibibytes);
            PRAGMA secure_delete = FAST;
            PRAGMA temp_store = MEMORY;
            PRAGMA cell_size_check = ON;
            PRAGMA synchronous = NORMAL;
            PRAGMA fullfsync = ON;
            BEGIN EXCLUSIVE; COMMIT;
            """)
    }
}

// MARK: - The schema

extension StoreFile {
    /// Returns the migrations done, in order; none for a new file. `isNamedOld` is true if the
    /// table of migrations has its earlier name, `grdb_migrations`.
    func doneMigrations() throws(StoreError) -> (names: [String], isNamedOld: Bool) {
        do throws(StoreError) {
            if let names = try textsIfPresent("SELECT name FROM migration ORDER BY rowid") {
                return (names, false)
            }
            let old = try textsIfPresent("SELECT identifier FROM grdb_migrations ORDER BY rowid")
            return (old ?? [], old != nil)
        } catch {
            if case .corrupt = error { try requireNoKey() }
            throw error
        }
    }

    /// Returns nil if the query's table is missing.
    private func textsIfPresent(_ sql: String) throws(StoreError) -> [String]? {
        do throws(StoreError) { return try texts(sql) } catch {
            // SQLite reports a missing table with this error, and no failure of a disk.
            if case .invalidStatement = error { return nil }
            throw error
        }
    }

    /// Gives the table of migrations its name of today.
    private func renameMigrations() throws(StoreError) {
        try transaction(
            """
            ALTER TABLE grdb_migrations RENAME TO migration;
            ALTER TABLE migration RENAME COLUMN identifier TO name;
            """)
    }

    /// Throws the reason why the file needs a key, if the connection has none.
    private func requireNoKey() throws(StoreError) {
        guard let file = LayeredFile.ofDatabase(handle), OpenDatabase.isOne(file) else { return }
        switch SealedHeader.reading(of: file) {
        case .sealed, .damaged: throw .keyMissing
        case .otherVersion(let version): throw .otherEncryption(version)
        case .plain, .unknown: return
        }
    }

    /// Performs a step as a whole, or not at all.
    private func perform(_ step: StoreMigration) throws(StoreError) {
        let name = step.name.replacing("'", with: "''")
        try transaction(
            """
            CREATE TABLE IF NOT EXISTS migration (name TEXT NOT NULL PRIMARY KEY);
            \(step.sql);
            INSERT INTO migration (name) VALUES ('\(name)');
            """)
    }

    private func transaction(_ sql: String) throws(StoreError) {
        do throws(StoreError) { try execute("BEGIN IMMEDIATE; \(sql) COMMIT;") } catch {
            sqlite3_exec(handle, "ROLLBACK", nil, nil, nil)
            throw error
        }
    }
}

// MARK: - A damaged file

extension StoreFile {
    /// Returns the rows of a query up to the first that cannot be read. The pages that locate
    /// tables are used even if they are damaged; those of rows are not.
    ///
    /// - Parameter key: Provides the key, as in ``open(_:tuning:migrations:key:)``.
    /// - Throws: An error if the key is not available now.
    static func salvage(
        _ sql: String, from path: String, key: StoreKeySource? = nil
    ) throws(StoreError) -> [[SQLValue]] {
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX
        let key = try key.map(ask)
        guard let file = try? opened(path, flags: flags, layer: layer, key: key) else { return [] }
        OpenDatabase.verify(false, in: file.handle)
        try? file.execute(lone)
        let connection = Connection(handle: file.handle, longestLog: .max)
        defer { connection.close() }
        guard let statement = try? connection.statement(text: sql) else { return [] }
        defer { statement.release() }
        OpenDatabase.verify(true, in: file.handle)
        var rows: [[SQLValue]] = []
        while (try? statement.step()) == true {
            rows.append((0..<Int32(statement.columnCount)).map { statement.value($0) })
        }
        return rows
    }
}

// MARK: - Before there is a connection

extension StoreFile {
    func execute(_ sql: String) throws(StoreError) {
        try check(sqlite3_exec(handle, sql, nil, nil, nil))
    }

    private func check(_ code: Int32) throws(StoreError) {
        guard code != SQLITE_OK else { return }
        let code = sqlite3_extended_errcode(handle)
        throw StoreError(
            code: code, detail: String(cString: sqlite3_errmsg(handle)),
            systemCode: sqlite3_system_errno(handle))
    }

    /// Returns the first column of all rows.
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
