import Foundation
import TidemarkSystem

/// The place of an unfinished export: a name next to the final name, which is locked while the
/// process lives.
struct ExportDraft: Sendable {
    let path: String
    /// The descriptor of the file or folder. It holds the lock until it is closed.
    let descriptor: Int32

    private static let mark = ".unfinished-"

    /// Makes a folder next to `place`. Also removes the unfinished exports there that killed
    /// processes have left.
    static func folder(beside place: String) throws(ExportError) -> ExportDraft {
        let path = newPath(beside: place)
        let error = PrivateFiles.makeFolder(path)
        if error != 0 { throw .file(path: path, reason: String(cString: strerror(error))) }
        return try marked(path, open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
    }

    /// Makes a file next to `place` in the same way, open for writing.
    static func file(beside place: String) throws(ExportError) -> ExportDraft {
        let path = newPath(beside: place)
        return try marked(path, PrivateFiles.create(path))
    }

    private static func marked(
        _ path: String, _ descriptor: Int32
    ) throws(ExportError) -> ExportDraft {
        guard descriptor >= 0 else {
            throw .file(path: path, reason: String(cString: strerror(errno)))
        }
        // Some file systems have no locks. There, unfinished exports of killed processes remain.
        _ = PrivateFiles.take(descriptor)
        return ExportDraft(path: path, descriptor: descriptor)
    }

    private static func newPath(beside place: String) -> String {
        removeLeftovers(beside: place)
        return place + mark + UUID().uuidString.prefix(8)
    }

    private static func removeLeftovers(beside place: String) {
        let url = URL(fileURLWithPath: place)
        let folder = url.deletingLastPathComponent().path
        let start = url.lastPathComponent + mark
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        for name in names where name.hasPrefix(start) {
            let path = folder + "/" + name
            if isAbandoned(path) { try? FileManager.default.removeItem(atPath: path) }
        }
    }

    /// Returns true if no process writes to the path any longer.
    private static func isAbandoned(_ path: String) -> Bool {
        let file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        if file < 0 { return false }
        defer { close(file) }
        // A file that is less than a minute old may not be locked yet.
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        guard let changed = attributes?[.modificationDate] as? Date,
            changed.timeIntervalSinceNow < -60
        else { return false }
        return PrivateFiles.take(file)
    }

    /// Releases the lock. No more data are written.
    func letGo() { close(descriptor) }
}

/// Makes folders and files that no other user of the machine can read.
enum ExportFiles {
    /// Makes a folder and its missing parents.
    static func makeFolder(_ path: String) throws(ExportError) {
        let error = PrivateFiles.makeFolder(path)
        if error != 0 { throw .file(path: path, reason: String(cString: strerror(error))) }
    }

    /// Writes a small file.
    static func write(_ data: Data, to path: String) throws(ExportError) {
        let file = PrivateFiles.create(path)
        guard file >= 0 else { throw .file(path: path, reason: String(cString: strerror(errno))) }
        do {
            let handle = FileHandle(fileDescriptor: file, closeOnDealloc: true)
            try handle.write(contentsOf: data)
            try handle.close()
        } catch { throw .file(path: path, reason: error.localizedDescription) }
    }
}
