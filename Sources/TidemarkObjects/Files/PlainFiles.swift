import TidemarkSystem

/// Files of an export.
package enum PlainFiles {
    /// Makes a folder that no other user may read, and its missing parents.
    package static func makeFolder(_ path: String) throws(ObjectRefusal) {
        let code = PrivateFiles.makeFolder(path)
        if code != 0 { throw failure(path, code) }
    }

    /// Writes a new file that no other user may read. An existing file is replaced.
    package static func write(_ bytes: [UInt8], to path: String) throws(ObjectRefusal) {
        let file = PrivateFiles.create(path)
        guard file >= 0 else { throw failure(path, errno) }
        defer { close(file) }
        try write(bytes, to: file, named: path)
    }

    /// Writes the bytes of an object to a new file.
    package static func copy(
        _ reader: BlobReader, size: Int64, to path: String
    ) throws(ObjectRefusal) {
        let file = PrivateFiles.create(path)
        guard file >= 0 else { throw failure(path, errno) }
        defer { close(file) }
        var at: Int64 = 0
        while at < size {
            let bytes = try reader.read(at: at, count: BlobReader.pieceBytes)
            if bytes.isEmpty { throw .unavailable("A file is too short.") }
            try write(bytes, to: file, named: path)
            at += Int64(bytes.count)
        }
    }

    private static func write(
        _ bytes: [UInt8], to file: Int32, named path: String
    ) throws(ObjectRefusal) {
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes {
                SystemCalls.writeBytes(
                    file, from: $0.baseAddress! + done, count: bytes.count - done)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw failure(path, errno) }
            done += count
        }
    }

    /// True for a file that is not a link.
    package static func isFile(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    /// Reads a small file that is not a link.
    ///
    /// - Throws: ``ObjectRefusal`` if the file is larger, or cannot be read.
    package static func read(_ path: String, upTo limit: Int) throws(ObjectRefusal) -> [UInt8] {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard file >= 0 else { throw failure(path, errno) }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: limit + 1)
        var length = 0
        while length <= limit {
            let count = bytes.withUnsafeMutableBytes {
                SystemCalls.readBytes(
                    file, to: $0.baseAddress! + length, count: $0.count - length)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure(path, errno) }
            if count == 0 { return Array(bytes[..<length]) }
            length += count
        }
        throw .invalid("\(path) is too large.")
    }

    private static func failure(_ path: String, _ code: Int32) -> ObjectRefusal {
        .unavailable("\(path): \(String(cString: strerror(code))).")
    }
}
