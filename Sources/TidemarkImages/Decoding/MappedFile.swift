import Foundation

/// A file's bytes, read by the system when they are looked at: they are not the process's own memory,
/// and go when it needs room.
///
/// `@unchecked`: the memory is never written, and goes with the last owner.
final class MappedFile: @unchecked Sendable {
    let bytes: UnsafeRawBufferPointer

    /// - Returns: Nil when it is not there, is empty or cannot be read.
    ///
    /// The file must not be made shorter while it is open. What is in a cache never is: it is replaced
    /// or removed.
    init?(_ path: String) {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        if file < 0 { return nil }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_size > 0 else { return nil }
        let count = Int(status.st_size)
        let start = mmap(nil, count, PROT_READ, MAP_PRIVATE, file, 0)
        guard let start, start != MAP_FAILED else { return nil }
        bytes = UnsafeRawBufferPointer(start: start, count: count)
    }

    deinit { munmap(UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count) }
}
