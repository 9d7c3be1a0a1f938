import Foundation
import CTidemarkSQLite
import TidemarkSystem

/// A copy of a database that another process has open, as of one moment. The copy is in its own
/// folder, which is deleted with the object.
///
/// Copying never waits. The owner holds the file's lock and appends to its log. A copy of the file
/// and the log is a consistent state as long as the log did not begin again during the copy: every
/// page that moved from the log into the file is also in the copied log, and opening the copy uses
/// the log's pages instead of the file's.
package final class StoreCopy: Sendable {
    package let path: String
    private let original: String
    private let folder: String
    /// The end of the owner's log in the copy.
    private let end: LogEnd
    /// Held while the copy is in use. A copy left by a killed process has no holder.
    private let lock: FileLock?

    private static let prefix = "tidemark-view-"
    private static let lockName = "in-use"
    /// The minimum age in seconds of a folder to be removed, because a younger folder may still be
    /// in creation.
    private static let sweepAge: TimeInterval = 60

    /// The number of attempts, each of which fails if the owner begins its log again or ends.
    private static let attempts = 10
    private static let chunk = 1 << 20

    /// - Throws: ``StoreError/locked`` if every attempt failed.
    package init(of original: String) throws(StoreError) {
        self.original = original
        let parent = FileManager.default.temporaryDirectory
        Self.sweep(parent)
        let url = parent.appendingPathComponent(Self.prefix + UUID().uuidString)
        folder = url.path
        path = url.appendingPathComponent("view.sqlite").path
        do {
            try FileManager.default.createDirectory(
                at: url, withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
            lock = FileLock(url.appendingPathComponent(Self.lockName).path)
            for _ in 0..<Self.attempts {
                let log = LogEnd(of: original)
                try Self.copyFile(original, to: path)
                // The log no longer exists if the owner has just ended.
                guard (try? Self.copyLog(of: original, to: path)) != nil else { continue }
                let copied = LogEnd(of: path)
                guard LogEnd(of: original).isOfSameLog(as: log), copied.isOfSameLog(as: log) else {
                    continue
                }
                end = copied
                return
            }
        } catch {
            Self.remove(folder)
            throw StoreError(error)
        }
        Self.remove(folder)
        throw .locked
    }

    deinit { Self.remove(folder) }

    /// Removes the copies of processes that have ended.
    private static func sweep(_ parent: URL) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: parent.path)) ?? []
        for name in names where name.hasPrefix(prefix) {
            let folder = parent.appendingPathComponent(name).path
            let attributes = try? FileManager.default.attributesOfItem(atPath: folder)
            guard let changed = attributes?[.modificationDate] as? Date,
                Date().timeIntervalSince(changed) > sweepAge,
                let lock = FileLock(folder + "/" + lockName)
            else { continue }
            withExtendedLifetime(lock) { remove(folder) }
        }
    }

    private static func remove(_ folder: String) {
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// True if the owner has written since the copy was made. Costs two reads of a few bytes.
    package var isOutdated: Bool { !end.isEnd(of: original) }

    private static func copyLog(of original: String, to path: String) throws {
        try? FileManager.default.removeItem(atPath: path + "-wal")
        if FileManager.default.fileExists(atPath: original + "-wal") {
            try FileManager.default.copyItem(
                atPath: original + "-wal", toPath: path + "-wal")
        }
    }

    /// Copies a file through SQLite's own file layer. If the owner is in this process, closing
    /// another descriptor of the file would release the owner's lock.
    private static func copyFile(_ original: String, to path: String) throws {
        _ = FileManager.default.createFile(
            atPath: path, contents: nil, attributes: [.posixPermissions: 0o600])
        let copy = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        defer { try? copy.close() }
        try copy.truncate(atOffset: 0)
        let file = try SystemFile(original)
        var offset: Int64 = 0
        let size = try file.size()
        while offset < size {
            let count = min(Int64(chunk), size - offset)
            try copy.write(contentsOf: try file.read(Int32(count), at: offset))
            offset += count
        }
    }
}

/// A lock of this process on a file. The lock ends with the process.
private final class FileLock: Sendable {
    private let descriptor: Int32

    /// Returns nil if another process holds the lock.
    init?(_ path: String) {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        if descriptor < 0 { return nil }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            return nil
        }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }
}

/// A file opened through SQLite's operating system layer.
private final class SystemFile {
    private let file: UnsafeMutablePointer<sqlite3_file>

    init(_ path: String) throws(StoreError) {
        guard let system = sqlite3_vfs_find(nil), let open = system.pointee.xOpen else {
            throw .unreadable(detail: "no files here")
        }
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: Int(system.pointee.szOsFile), alignment: 16)
        memory.initializeMemory(
            as: UInt8.self, repeating: 0, count: Int(system.pointee.szOsFile))
        file = memory.assumingMemoryBound(to: sqlite3_file.self)
        // SQLite expects several zeros after the name, because parameters may follow the first.
        let text = Array(path.utf8CString) + [0, 0]
        name = .allocate(capacity: text.count)
        name.initialize(from: text, count: text.count)
        let code = open(system, name, file, SQLITE_OPEN_READONLY | SQLITE_OPEN_MAIN_DB, nil)
        // A file that failed to open has no methods to close it.
        guard code == SQLITE_OK else {
            throw StoreError(code: code, detail: "cannot open \(path)")
        }
    }

    /// The name, to which SQLite keeps a pointer while the file is open.
    private let name: UnsafeMutablePointer<CChar>

    deinit {
        _ = file.pointee.pMethods?.pointee.xClose?(file)
        UnsafeMutableRawPointer(file).deallocate()
        name.deallocate()
    }

    func size() throws(StoreError) -> Int64 {
        var size: Int64 = 0
        let code = file.pointee.pMethods?.pointee.xFileSize?(file, &size) ?? SQLITE_IOERR
        guard code == SQLITE_OK else { throw StoreError(code: code, detail: "no size") }
        return size
    }

    /// `SQLITE_IOERR_SHORT_READ`, which is a macro.
    private static let shortRead = SQLITE_IOERR | 2 << 8

    func read(_ count: Int32, at offset: Int64) throws(StoreError) -> Data {
        var data = Data(count: Int(count))
        let code = data.withUnsafeMutableBytes {
            file.pointee.pMethods?.pointee.xRead?(file, $0.baseAddress, count, offset)
                ?? SQLITE_IOERR
        }
        // The file became shorter. The missing part reads as zeros and is in the log.
        guard code == SQLITE_OK || code == Self.shortRead else {
            throw StoreError(code: code, detail: "cannot read the cache")
        }
        return data
    }
}
