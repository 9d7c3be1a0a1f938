import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A small file that is whole at every moment, and that nobody else on the machine may read.
struct DurableFile: Sendable {
    /// A longer one is not ours.
    static let maxBytes = 1 << 20

    let path: String

    struct Failure: Error, Hashable, Sendable {
        let detail: String
        let code: Int32
    }

    /// - Returns: Nil when there is none, and its folder can be looked into.
    func read() throws(Failure) -> [UInt8]? {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        if file < 0 {
            if errno == ENOENT { return nil }
            throw failure("cannot be opened")
        }
        defer { close(file) }
        // One that others could read is taken back from them before it is used.
        guard fchmod(file, 0o600) == 0 else { throw failure("is not this user's own") }
        var bytes = [UInt8](repeating: 0, count: Self.maxBytes + 1)
        var length = 0
        while length < bytes.count {
            let room = bytes.count - length
            let count = bytes.withUnsafeMutableBytes { buffer in
                Self.read(file, buffer.baseAddress! + length, room)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure("cannot be read") }
            if count == 0 { return Array(bytes[..<length]) }
            length += count
        }
        throw Failure(detail: "\(name) is too long.", code: 0)
    }

    /// On disk when it returns; nil removes the file.
    func write(_ bytes: [UInt8]?) throws(Failure) {
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
            guard Self.sync(file) == 0 else { throw failure("cannot be synced") }
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
            let count = rest.withUnsafeBytes { Self.write(file, $0.baseAddress!, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw failure("cannot be written") }
            rest = rest.dropFirst(count)
        }
    }

    /// A name that is new, or gone, is on disk with its folder.
    private func syncFolder() throws(Failure) {
        let folder = open(
            (path as NSString).deletingLastPathComponent, O_RDONLY | O_CLOEXEC | O_DIRECTORY)
        guard folder >= 0 else { throw failure("has a folder that cannot be opened") }
        defer { close(folder) }
        guard Self.sync(folder) == 0 else { throw failure("has a folder that cannot be synced") }
    }

    private var name: String { (path as NSString).lastPathComponent }

    private func failure(_ what: String) -> Failure {
        let code = errno
        return Failure(detail: "\(name) \(what): \(String(cString: strerror(code)))", code: code)
    }

    /// To the disk itself: `fsync` alone leaves it in the disk's own memory on Apple's systems.
    private static func sync(_ file: Int32) -> Int32 {
        #if canImport(Darwin)
            if fcntl(file, F_FULLFSYNC) == 0 { return 0 }
        #endif
        return fsync(file)
    }

    // The system's functions, which have the names of this type's own.
    private static func read(_ file: Int32, _ to: UnsafeMutableRawPointer, _ count: Int) -> Int {
        #if canImport(Darwin)
            Darwin.read(file, to, count)
        #elseif canImport(Glibc)
            Glibc.read(file, to, count)
        #elseif canImport(Musl)
            Musl.read(file, to, count)
        #endif
    }

    private static func write(_ file: Int32, _ from: UnsafeRawPointer, _ count: Int) -> Int {
        #if canImport(Darwin)
            Darwin.write(file, from, count)
        #elseif canImport(Glibc)
            Glibc.write(file, from, count)
        #elseif canImport(Musl)
            Musl.write(file, from, count)
        #endif
    }
}
