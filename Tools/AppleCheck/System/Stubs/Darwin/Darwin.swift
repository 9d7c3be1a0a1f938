// The parts of Apple's C library that differ from Linux's: man pages fcntl(2), rename(2),
// socket(2).
@_exported public import Glibc

/// man 2 fcntl: "ask the drive to flush all buffered data to the permanent storage device".
public let F_FULLFSYNC: Int32 = 51
/// man 2 socket. The constant is an `Int32` there, and an enumeration in Glibc.
public let SOCK_STREAM: Int32 = 1
/// man 2 rename: exchange both names.
public let RENAME_SWAP: Int32 = 2

/// man 2 rename. Runs Linux's call with the same meaning.
public func renamex_np(
    _ from: UnsafePointer<CChar>!, _ to: UnsafePointer<CChar>!, _ flags: UInt32
) -> Int32 {
    typealias Rename =
        @convention(c) (
            Int32, UnsafePointer<CChar>?, Int32, UnsafePointer<CChar>?, UInt32
        ) -> Int32
    guard flags == UInt32(RENAME_SWAP), let symbol = dlsym(nil, "renameat2") else { return -1 }
    return unsafeBitCast(symbol, to: Rename.self)(AT_FDCWD, from, AT_FDCWD, to, 2)
}

/// man 2 getrusage. The constant is an `Int32` there.
public let RUSAGE_SELF: Int32 = 0

extension stat {
    /// man 2 stat.
    public var st_mtimespec: timespec { st_mtim }
}

/// man 2 clonefile. Copies the bytes, with the mode of the source, as a clone has it.
public func fclonefileat(
    _ source: Int32, _ folder: Int32, _ path: UnsafePointer<CChar>!, _ flags: UInt32
) -> Int32 {
    var facts = stat()
    if fstat(source, &facts) != 0 { return -1 }
    let copy = openat(folder, path, O_WRONLY | O_CREAT | O_EXCL, facts.st_mode & 0o777)
    if copy < 0 { return -1 }
    defer { close(copy) }
    var left = Int(facts.st_size)
    while left > 0 {
        let count = sendfile(copy, source, nil, left)
        if count <= 0 { return -1 }
        left -= count
    }
    return 0
}
