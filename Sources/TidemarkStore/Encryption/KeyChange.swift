import Foundation
import CTidemarkSQLite
import TidemarkSystem

extension DocumentStore {
    /// Encrypts a file with another key, or encrypts an unencrypted file. A missing file, or a file
    /// that has the new key already, is not changed.
    ///
    /// Makes a copy with the new key beside the file and replaces the file in one step. So after a
    /// kill or a loss of power, one of the two exists completely. Costs a copy of every page, and
    /// the disk space for it.
    ///
    /// - Parameters:
    ///   - migrations: The migrations of the file's own
    ///     ``init(_:migrations:indexBuilding:tuning:key:fault:)``.
    ///   - old: Provides the current key; nil if the file is not encrypted.
    /// - Throws: ``StoreError/locked`` if the file is open anywhere. The file is then unchanged.
    package static func changeKey(
        of path: String, migrations: [StoreMigration], from old: StoreKeySource?,
        to new: StoreKeySource
    ) throws(StoreError) {
        try StoreFile.changeKey(of: path, migrations, from: old, to: new)
    }
}

extension StoreFile {
    private static let copyEnding = ".rekey"

    fileprivate static func changeKey(
        of path: String, _ migrations: [StoreMigration], from old: StoreKeySource?,
        to new: StoreKeySource
    ) throws(StoreError) {
        let copy = path + copyEnding
        // Removes the copy that a kill may have left.
        try DocumentStore.erase(copy)
        guard access(path, F_OK) == 0 else { return }
        let key = try ask(new)
        if try isKey(key, of: path) { return }
        // The file stays open, and therefore locked, until the copy has replaced it.
        let file = try open(
            .file(path), tuning: DocumentStore.Tuning(), migrations: migrations, key: old)
        do throws(StoreError) {
            try file.copy(to: copy, key)
            try StoreLayer.replace(path, by: copy)
        } catch {
            try? DocumentStore.erase(copy)
            throw error
        }
        try file.close()
    }

    private static func isKey(_ key: any StoreKey, of path: String) throws(StoreError) -> Bool {
        do throws(StoreError) {
            let file = try opened(.file(path), key)
            guard case .sealed = SealedHeader.reading(in: file.handle) else { return false }
            return true
        } catch {
            switch error {
            case .wrongKey, .notEncrypted: return false
            default: throw error
            }
        }
    }

    /// Copies the store's contents to a file with another key.
    private func copy(to path: String, _ key: any StoreKey) throws(StoreError) {
        SealedDatabase.reserve(in: handle)
        Self.makePrivate(path)
        let name = path.replacing("'", with: "''")
        let made: Result<Void, StoreError> = FileLayer.$key.withValue(key) {
            do throws(StoreError) {
                return .success(
                    try execute("PRAGMA synchronous = FULL; VACUUM INTO '\(name)'"))
            } catch { return .failure(error) }
        }
        try made.get()
        let copy = try Self.opened(.file(path), key)
        // Prepares the copy as every store leaves its file, with a change that needs no journal
        // file.
        try copy.execute(
            """
            PRAGMA locking_mode = EXCLUSIVE; PRAGMA temp_store = MEMORY;
            PRAGMA journal_mode = MEMORY; PRAGMA journal_mode = WAL; BEGIN IMMEDIATE; COMMIT;
            """)
        guard try copy.doneMigrations() == doneMigrations() else {
            throw .unreadable(detail: "the copy is not what was copied")
        }
        try copy.sync()
        try copy.close()
    }

    private func sync() throws(StoreError) {
        guard let file = LayeredFile.ofDatabase(handle) else { return }
        let code = file.pointee.pMethods.pointee.xSync(file, SQLITE_SYNC_FULL)
        if code != SQLITE_OK { throw StoreError(code: code, detail: "the copy is not on the disk") }
    }
}

extension StoreLayer {
    /// Replaces a file with another one, and waits until the change is on disk.
    fileprivate static func replace(_ path: String, by new: String) throws(StoreError) {
        do {
            if let replacing { return try replacing(path, new) }
            guard rename(new, path) == 0 else { throw StoreError.full(errno) }
            let folder = open((path as NSString).deletingLastPathComponent, O_RDONLY | O_CLOEXEC)
            guard folder >= 0 else { throw StoreError.full(errno) }
            defer { close(folder) }
            guard fsync(folder) == 0 else { throw StoreError.full(errno) }
        } catch { throw StoreError(error) }
    }
}

extension StoreError {
    fileprivate static func full(_ code: Int32) -> StoreError {
        code == ENOSPC || code == EDQUOT
            ? .full : .unreadable(detail: String(cString: strerror(code)))
    }
}
