import Foundation

/// The bytes of a file, which the system reads on access. They are not the process's own memory,
/// and the system frees them when it needs room.
///
/// `@unchecked`: the memory is never written, and its last owner unmaps it.
final class MappedFile: @unchecked Sendable {
    let bytes: UnsafeRawBufferPointer

    /// - Returns: Nil if the file is missing, is empty or cannot be read.
    ///
    /// The file must not be truncated while it is open. Files of a cache never are: a cache
    /// replaces or removes them.
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
