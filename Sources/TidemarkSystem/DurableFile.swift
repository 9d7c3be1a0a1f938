/// A small file that is complete at every moment, and that other users of the machine cannot read.
package struct DurableFile: Sendable {
    package let path: String
    /// The maximum size in bytes. A longer file was not written by this type.
    private let maxBytes: Int

    package init(path: String, maxBytes: Int = 1 << 20) {
        self.path = path
        self.maxBytes = maxBytes
    }

    package struct Failure: Error, Hashable, Sendable {
        package let detail: String
        package let code: Int32
    }

    /// - Returns: The contents; nil if the file does not exist and its folder is accessible.
    package func read() throws(Failure) -> [UInt8]? {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        if file < 0 {
            if errno == ENOENT { return nil }
            throw failure("cannot be opened")
        }
        defer { close(file) }
        // Removes the access of other users before the contents are used.
        guard fchmod(file, 0o600) == 0 else { throw failure("is not this user's own") }
        var bytes = [UInt8](repeating: 0, count: min(Self.firstRoom, maxBytes + 1))
        var length = 0
        while length <= maxBytes {
            if length == bytes.count {
                bytes += [UInt8](repeating: 0, count: min(length, maxBytes + 1 - length))
            }
            let room = bytes.count - length
            let count = bytes.withUnsafeMutableBytes { buffer in
                SystemCalls.readBytes(file, to: buffer.baseAddress! + length, count: room)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure("cannot be read") }
            if count == 0 { return Array(bytes[..<length]) }
            length += count
        }
        throw Failure(detail: "\(name) is too long.", code: 0)
    }

    /// Writes the file, which is on disk when the function returns. Nil removes the file.
    package func write(_ bytes: [UInt8]?) throws(Failure) {
        guard let bytes else {
            if unlink(path) != 0, errno != ENOENT { throw failure("cannot be removed") }
            return try syncFolder()
        }
        let new = path + ".new"
        if unlink(new) != 0, errno != ENOENT { throw failure("has something in its way") }
        let file = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw failure("cannot be written") }
        do throws(Failure) {
            try write(bytes, to: file)
            guard SystemCalls.syncToDisk(file) == 0 else { throw failure("cannot be synced") }
        } catch {
            close(file)
            throw error
        }
        close(file)
        guard rename(new, path) == 0 else { throw failure("cannot be replaced") }
        try syncFolder()
    }

    private func write(_ bytes: [UInt8], to file: Int32) throws(Failure) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                SystemCalls.writeBytes(file, from: $0.baseAddress!, count: $0.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw failure("cannot be written") }
            rest = rest.dropFirst(count)
        }
    }

    /// Syncs the folder, which puts a new or removed name on disk.
    private func syncFolder() throws(Failure) {
        let parent = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        let folder = open(parent, O_RDONLY | O_CLOEXEC | O_DIRECTORY)
        guard folder >= 0 else { throw failure("has a folder that cannot be opened") }
        defer { close(folder) }
        guard SystemCalls.syncToDisk(folder) == 0 else {
            throw failure("has a folder that cannot be synced")
        }
    }

    private static let firstRoom = 1 << 14

    private var name: Substring {
        path[(path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex)...]
    }

    private func failure(_ what: String) -> Failure {
        let code = errno
        return Failure(detail: "\(name) \(what): \(String(cString: strerror(code)))", code: code)
    }
}
