import TidemarkSystem

/// The name of a file with an object's bytes. It never depends on the object's name.
package struct BlobID: Hashable, Sendable, Codable {
    /// 32 hexadecimal digits.
    package let text: String

    /// The name of no blob, for an object that is not stored yet.
    package static let none = BlobID(bytes: [UInt8](repeating: 0, count: 16))

    /// - Parameter bytes: 16 random bytes.
    package init(bytes: [UInt8]) {
        precondition(bytes.count == 16)
        let digits = Array("0123456789abcdef")
        text = String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }

    /// Returns nil if the text is not the name of a blob.
    package init?(_ text: String) {
        guard text.utf8.count == 32,
            text.utf8.allSatisfy({
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                    || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
            })
        else { return nil }
        self.text = text
    }
}

/// The folder of blobs. A blob is written once and never changed afterwards.
package struct BlobFolder: Sendable {
    package let path: String

    /// Makes the folder, if it does not exist.
    package init(_ path: String) throws(ObjectRefusal) {
        self.path = path
        let code = PrivateFiles.makeFolder(path)
        if code != 0 { throw Self.failure(code) }
    }

    /// The folder of a blob: 256 folders hold all blobs.
    private func shard(_ blob: BlobID) -> String { path + "/" + blob.text.prefix(2) }

    package func file(of blob: BlobID) -> String { shard(blob) + "/" + blob.text }

    /// Makes an empty file, whose name is on disk when the function returns. A file of a killed
    /// upload that has no synced bytes is emptied.
    ///
    /// - Returns: A descriptor for reading and writing.
    func create(_ blob: BlobID) throws(ObjectRefusal) -> Int32 {
        let flags = O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW
        var file = open(self.file(of: blob), flags, 0o600)
        if file < 0, errno == ENOENT {
            let code = PrivateFiles.makeFolder(shard(blob))
            if code != 0 { throw Self.failure(code) }
            try sync(folder: path)
            file = open(self.file(of: blob), flags, 0o600)
        }
        guard file >= 0 else { throw Self.failure(errno) }
        do throws(ObjectRefusal) { try sync(folder: shard(blob)) } catch {
            close(file)
            throw error
        }
        return file
    }

    /// Opens a file to append to its first `length` bytes. Bytes beyond them are removed.
    func openForAppending(_ blob: BlobID, length: Int64) throws(ObjectRefusal) -> Int32 {
        let file = open(self.file(of: blob), O_RDWR | O_CLOEXEC | O_NOFOLLOW)
        guard file >= 0 else { throw Self.failure(errno) }
        guard ftruncate(file, off_t(length)) == 0 else {
            let code = errno
            close(file)
            throw Self.failure(code)
        }
        return file
    }

    /// Removes a blob, if it exists.
    func remove(_ blob: BlobID) { unlink(file(of: blob)) }

    /// Removes a blob that has never been the file of an object.
    package func discard(_ blob: BlobID) { remove(blob) }

    /// Returns the length of a blob; nil if there is no such blob.
    func length(of blob: BlobID) -> Int64? {
        var status = stat()
        return lstat(file(of: blob), &status) == 0 ? Int64(status.st_size) : nil
    }

    /// Removes every blob for which `isKept` is false, and files that are not blobs.
    ///
    /// - Returns: The number of removed files.
    @discardableResult
    func sweep(isKept: (BlobID) -> Bool) -> Int {
        var removed = 0
        for shard in Self.names(in: path) where shard.utf8.count == 2 {
            for name in Self.names(in: path + "/" + shard) {
                if let blob = BlobID(name), isKept(blob) { continue }
                if unlink(path + "/" + shard + "/" + name) == 0 { removed += 1 }
            }
        }
        return removed
    }

    private static func names(in folder: String) -> [String] {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    private func sync(folder: String) throws(ObjectRefusal) {
        let descriptor = open(folder, O_RDONLY | O_CLOEXEC | O_DIRECTORY)
        guard descriptor >= 0 else { throw Self.failure(errno) }
        defer { close(descriptor) }
        guard SystemCalls.syncToDisk(descriptor) == 0 else { throw Self.failure(errno) }
    }

    /// Creates a file that no other user of the machine may read, for the database.
    static func makePrivate(_ file: String, in directory: String) throws(ObjectRefusal) {
        let code = PrivateFiles.makeFolder(directory)
        if code != 0 { throw failure(code) }
        let descriptor = open(file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw failure(errno) }
        defer { close(descriptor) }
        if fchmod(descriptor, 0o600) != 0 { throw failure(errno) }
    }

    /// Returns the error for a failed system call.
    static func failure(_ code: Int32) -> ObjectRefusal {
        if code == ENOSPC || code == EDQUOT { return .noSpace }
        return .unavailable("The disk has failed: \(String(cString: strerror(code))).")
    }
}
