package import Foundation

/// The bytes of a body that have arrived, and that the caller has not taken yet.
///
/// URLSession on Linux cannot be paused, so a body can arrive faster than it is taken. The first
/// bytes wait in memory. If they are too many, the following bytes wait in a file.
package struct HTTPBacklog {
    /// The maximum number of bytes that wait in memory, and that ``removeFirst()`` returns.
    package static let memoryLimit = 128 << 10

    private let limit: Int
    private let folder: String
    private var memory: [UInt8] = []
    private var file: HTTPBacklogFile?

    /// - Parameters:
    ///   - limit: The maximum size of the file in bytes.
    ///   - folder: The path of the file's folder.
    package init(limit: Int, folder: String) {
        precondition(limit > 0)
        self.limit = limit
        self.folder = folder
    }

    /// The number of bytes that wait in memory.
    package var countInMemory: Int { memory.count }

    /// - Throws: `URLError.dataLengthExceedsMaximum` if the file is full;
    ///   `URLError.cannotCreateFile` or `URLError.cannotWriteToFile` if the disk refuses the bytes.
    package mutating func append(_ bytes: Data) throws {
        let isFileEmpty = file?.isEmpty ?? true
        if isFileEmpty, bytes.count <= Self.memoryLimit - memory.count {
            memory += bytes
            return
        }
        let file = try file ?? HTTPBacklogFile(in: folder)
        self.file = file
        if bytes.count > limit - file.size { throw URLError(.dataLengthExceedsMaximum) }
        try file.append(bytes)
    }

    /// Removes the oldest bytes, and returns them; empty if none wait.
    ///
    /// - Throws: `URLError.cannotOpenFile` if the disk does not return the bytes.
    package mutating func removeFirst() throws -> [UInt8] {
        if memory.isEmpty { return try file?.removeFirst(Self.memoryLimit) ?? [] }
        defer { memory = [] }
        return memory
    }
}

/// A file whose bytes are taken from its start as others are appended.
///
/// Only this process can read the file, which has no name. So it also ends with the process.
private final class HTTPBacklogFile {
    private let descriptor: Int32
    /// The number of bytes that were taken since the file was empty.
    private var taken = 0
    /// The number of bytes that were appended since the file was empty.
    private(set) var size = 0

    var isEmpty: Bool { size == 0 }

    init(in folder: String) throws {
        var path = Array((folder + "/tidemark-XXXXXX").utf8CString)
        descriptor = mkstemp(&path)
        if descriptor < 0 { throw URLError(.cannotCreateFile) }
        unlink(path)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }

    deinit { close(descriptor) }

    func append(_ bytes: Data) throws {
        try bytes.withUnsafeBytes { memory in
            var written = 0
            while written < memory.count {
                let rest = memory[written...]
                let count = pwrite(
                    descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count,
                    off_t(size + written))
                if count < 0, errno == EINTR { continue }
                if count <= 0 { throw URLError(.cannotWriteToFile) }
                written += count
            }
        }
        size += bytes.count
    }

    /// Removes and returns at most `limit` bytes. An emptied file returns its space to the disk.
    func removeFirst(_ limit: Int) throws -> [UInt8] {
        let wanted = min(limit, size - taken)
        let bytes = try [UInt8](unsafeUninitializedCapacity: wanted) { memory, filled in
            while filled < wanted {
                let rest = UnsafeMutableBufferPointer(rebasing: memory[filled..<wanted])
                let count = pread(descriptor, rest.baseAddress, rest.count, off_t(taken + filled))
                if count < 0, errno == EINTR { continue }
                if count <= 0 { throw URLError(.cannotOpenFile) }
                filled += count
            }
        }
        taken += wanted
        if taken == size {
            // The space is not needed again if this fails.
            _ = ftruncate(descriptor, 0)
            (taken, size) = (0, 0)
        }
        return bytes
    }
}
