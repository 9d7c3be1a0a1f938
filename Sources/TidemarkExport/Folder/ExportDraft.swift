import Foundation
import TidemarkSystem

/// The place where an export is written before it is whole: a name beside its own, marked as in use while
/// the process lives.
struct ExportDraft: Sendable {
    let path: String
    /// Of the file or folder; marks it until it is closed.
    let descriptor: Int32

    private static let mark = ".unfinished-"

    /// Makes a folder beside `place`, and removes those that exports before it have left there: a process
    /// that was killed leaves all that it had written.
    static func folder(beside place: String) throws(ExportError) -> ExportDraft {
        let path = newPath(beside: place)
        let error = PrivateFiles.makeFolder(path)
        if error != 0 { throw .file(path: path, reason: String(cString: strerror(error))) }
        return try marked(path, open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
    }

    /// Makes a file beside `place`, open for writing, in the same way.
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
        // Not every file system has marks; there leftovers stay.
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

    /// True if nobody writes any more what lies at a path.
    private static func isAbandoned(_ path: String) -> Bool {
        let file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        if file < 0 { return false }
        defer { close(file) }
        // What was made a moment ago may not be marked yet.
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        guard let changed = attributes?[.modificationDate] as? Date,
            changed.timeIntervalSinceNow < -60
        else { return false }
        return PrivateFiles.take(file)
    }

    /// Lets go of the mark. Nothing is written any more.
    func letGo() { close(descriptor) }
}

/// Folders and files of an export, which nobody else on the machine may read.
enum ExportFiles {
    /// Makes a folder, and those above it that are missing.
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
