import TidemarkSystem

/// Calls of the system about files and their contents.
enum FileSystem {
    /// Makes a file that shares its blocks with an open file until one of them changes. The new
    /// file is complete, and takes no space. It has mode 0600.
    ///
    /// - Returns: False if the file system cannot do so; there is no new file then.
    static func clone(_ source: Int32, to path: String) -> Bool {
        #if canImport(Darwin)
            guard fclonefileat(source, AT_FDCWD, path, 0) == 0 else { return false }
            if chmod(path, 0o600) == 0 { return true }
            unlink(path)
            return false
        #else
            let file = PrivateFiles.create(path)
            if file < 0 { return false }
            defer { close(file) }
            // FICLONE of linux/fs.h, whose macro Swift does not see.
            let cloneRequest: UInt = 0x4004_9409
            if ioctl(file, cloneRequest, source) == 0 { return true }
            unlink(path)
            return false
        #endif
    }

    /// The facts of a file that change when its contents do.
    struct FileVersion: Hashable, Sendable {
        var size: Int64
        var seconds: Int
        var nanoseconds: Int
    }

    /// Returns the version of an open file; nil if it is no regular file, or cannot be examined.
    static func version(of file: Int32) -> FileVersion? {
        var facts = stat()
        guard fstat(file, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { return nil }
        #if canImport(Darwin)
            let time = facts.st_mtimespec
        #else
            let time = facts.st_mtim
        #endif
        return FileVersion(
            size: Int64(facts.st_size), seconds: Int(time.tv_sec), nanoseconds: Int(time.tv_nsec))
    }

    static func isFolder(_ file: Int32) -> Bool {
        var facts = stat()
        return fstat(file, &facts) == 0 && facts.st_mode & S_IFMT == S_IFDIR
    }
}
