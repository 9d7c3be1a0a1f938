import Crypto
import Foundation
import TidemarkSystem

/// The size and the digests of a file's bytes.
struct FileDigest: Hashable, Sendable, Codable {
    var size: Int64
    /// In hexadecimal digits.
    var sha256: String
    /// In base64, as Storage reports it.
    var md5: String
}

/// Computes a file's digests part by part.
struct RunningDigest {
    private var sha256 = SHA256()
    private var md5 = Insecure.MD5()
    private(set) var size: Int64 = 0

    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        sha256.update(bufferPointer: bytes)
        md5.update(bufferPointer: bytes)
        size += Int64(bytes.count)
    }

    var digest: FileDigest {
        FileDigest(
            size: size, sha256: sha256.finalize().map { String(format: "%02x", $0) }.joined(),
            md5: Data(md5.finalize()).base64EncodedString())
    }
}

/// Copies files, so a later change of the original changes nothing. A copy takes no space where the
/// file system can share blocks.
enum FileCopy {
    /// The number of bytes that a copy holds in memory.
    private static let partSize = 1 << 20

    /// Copies a file to `path`, which is on disk when the function returns. After a failure there
    /// is no file at `path`. Blocks the thread for the time of the copy.
    static func make(
        of source: String, to path: String, limit: Int64
    ) throws(FileProblem) -> FileDigest {
        // A pipe without a writer must not block, and a link is not followed.
        let file = open(source, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        if file < 0 { throw openingProblem(errno) }
        defer { close(file) }
        if FileSystem.isFolder(file) { throw .isFolder }
        guard let version = FileSystem.version(of: file) else { throw .isNoFile }
        if version.size > limit { throw .tooLarge(limit: limit) }
        do throws(FileProblem) {
            if FileSystem.clone(file, to: path) { return try finishClone(path, limit) }
            return try stream(file, version, to: path)
        } catch {
            unlink(path)
            throw error
        }
    }

    /// Stores bytes as a file at `path`, as ``make(of:to:limit:)`` does.
    static func store(_ bytes: Data, at path: String) throws(FileProblem) -> FileDigest {
        let copy = PrivateFiles.create(path)
        if copy < 0 { throw storingProblem(errno) }
        defer { close(copy) }
        var digest = RunningDigest()
        do throws(FileProblem) {
            let code = bytes.withUnsafeBytes { part -> Int32 in
                digest.add(part)
                return write(part, to: copy)
            }
            if code != 0 { throw storingProblem(code) }
            try sync(copy)
        } catch {
            unlink(path)
            throw error
        }
        return digest.digest
    }

    /// Returns the size of a stored copy in bytes; nil if it is missing or unreadable.
    static func size(of path: String) -> Int64? {
        let file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        if file < 0 { return nil }
        defer { close(file) }
        return FileSystem.version(of: file)?.size
    }

    /// Returns the digests of a stored copy; nil if the file is missing or unreadable.
    ///
    /// - Parameter isWanted: Called before each part. The function returns nil if it returns false.
    static func digest(
        of path: String, while isWanted: () -> Bool = { true }
    ) -> FileDigest? {
        let file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        if file < 0 { return nil }
        defer { close(file) }
        var digest = RunningDigest()
        var buffer = [UInt8](repeating: 0, count: partSize)
        while true {
            guard isWanted() else { return nil }
            let count = read(file, into: &buffer)
            if count < 0 { return nil }
            if count == 0 { return digest.digest }
            buffer.withUnsafeBytes { digest.add(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        }
    }

    /// Reads a part of a stored copy; nil if the copy does not have all of its bytes.
    ///
    /// The part has pages of its own, which return to the system with the last use of the part. The
    /// allocator would keep the memory of several parts.
    static func read(_ path: String, from offset: Int64, count: Int) -> Data? {
        let file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        if file < 0 { return nil }
        defer { close(file) }
        if lseek(file, off_t(offset), SEEK_SET) < 0 { return nil }
        if count == 0 { return Data() }
        let pages = mmap(nil, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0)
        guard let pages, pages != MAP_FAILED else { return nil }
        var filled = 0
        while filled < count {
            let got = SystemCalls.readBytes(file, to: pages + filled, count: count - filled)
            if got < 0, errno == EINTR { continue }
            if got <= 0 {
                munmap(pages, count)
                return nil
            }
            filled += got
        }
        // Data copies a few bytes, and unmaps the pages immediately.
        return Data(bytesNoCopy: pages, count: count, deallocator: .unmap)
    }

    // MARK: Parts

    /// A clone has the bytes of one moment, so only its digests are missing.
    private static func finishClone(
        _ path: String, _ limit: Int64
    ) throws(FileProblem) -> FileDigest {
        guard let digest = digest(of: path) else { throw .cannotStore(code: EIO) }
        if digest.size > limit { throw .tooLarge(limit: limit) }
        let copy = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW)
        if copy < 0 { throw storingProblem(errno) }
        defer { close(copy) }
        try sync(copy)
        return digest
    }

    /// Copies an open file part by part, and compares its version at the end.
    ///
    /// - Parameter onPart: Called after each part, for tests that change the file.
    static func stream(
        _ file: Int32, _ version: FileSystem.FileVersion, to path: String,
        onPart: () -> Void = {}
    ) throws(FileProblem) -> FileDigest {
        let copy = PrivateFiles.create(path)
        if copy < 0 { throw storingProblem(errno) }
        defer { close(copy) }
        var digest = RunningDigest()
        var buffer = [UInt8](repeating: 0, count: partSize)
        while true {
            let count = read(file, into: &buffer)
            if count < 0 { throw .unreadable(code: errno) }
            if count == 0 { break }
            let code = buffer.withUnsafeBytes { memory -> Int32 in
                let part = UnsafeRawBufferPointer(rebasing: memory[..<count])
                digest.add(part)
                return write(part, to: copy)
            }
            if code != 0 { throw storingProblem(code) }
            onPart()
            // A file that grows without end is noticed here.
            if digest.size > version.size { throw .changedWhileCopied }
        }
        guard digest.size == version.size, FileSystem.version(of: file) == version else {
            throw .changedWhileCopied
        }
        try sync(copy)
        return digest.digest
    }

    private static func read(_ file: Int32, into buffer: inout [UInt8]) -> Int {
        while true {
            let count = buffer.withUnsafeMutableBytes { memory in
                SystemCalls.readBytes(file, to: memory.baseAddress!, count: memory.count)
            }
            if count < 0, errno == EINTR { continue }
            return count
        }
    }

    /// - Returns: 0, or the system's error.
    static func write(_ part: UnsafeRawBufferPointer, to file: Int32) -> Int32 {
        var written = 0
        while written < part.count {
            let count = SystemCalls.writeBytes(
                file, from: part.baseAddress! + written, count: part.count - written)
            if count < 0, errno == EINTR { continue }
            if count <= 0 { return count < 0 ? errno : ENOSPC }
            written += count
        }
        return 0
    }

    private static func sync(_ file: Int32) throws(FileProblem) {
        if SystemCalls.syncToDisk(file) != 0 { throw storingProblem(errno) }
    }

    private static func openingProblem(_ code: Int32) -> FileProblem {
        switch code {
        case ENOENT, ENOTDIR: .missing
        case ELOOP: .isSymbolicLink
        case ENXIO: .isNoFile
        default: .unreadable(code: code)
        }
    }

    static func storingProblem(_ code: Int32) -> FileProblem {
        code == ENOSPC || code == EDQUOT ? .diskFull : .cannotStore(code: code)
    }
}
