import TidemarkSystem

/// A file for reading, which is closed with its last user.
final class ReadOnlyFile: Sendable {
    let size: Int64
    /// The last part of its path, for messages.
    let name: String
    private let descriptor: CInt

    init(_ path: String) throws(HealthExportError) {
        name = path.split(separator: "/").last.map(String.init) ?? path
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw .unreadable(file: name, detail: String(cString: strerror(errno)))
        }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            size = 0
            // All properties are initialised before the throw, so `deinit` runs and closes the
            // descriptor.
            throw .unreadable(file: name, detail: "it is not a file")
        }
        size = Int64(status.st_size)
    }

    deinit { close(descriptor) }

    /// Reads the available bytes, up to the buffer's size; fewer only at the end of the file.
    func read(
        into buffer: UnsafeMutableRawBufferPointer, at place: Int64
    ) throws(HealthExportError) -> Int {
        var filled = 0
        while filled < buffer.count {
            let count = pread(
                descriptor, buffer.baseAddress! + filled, buffer.count - filled,
                off_t(place + Int64(filled)))
            if count == 0 { break }
            if count < 0 {
                if errno == EINTR { continue }
                throw .unreadable(file: name, detail: String(cString: strerror(errno)))
            }
            filled += count
        }
        return filled
    }

    /// Reads the given number of bytes; fewer only at the end of the file.
    func bytes(at place: Int64, count: Int) throws(HealthExportError) -> [UInt8] {
        var failure: HealthExportError?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            do throws(HealthExportError) {
                filled = try read(into: UnsafeMutableRawBufferPointer(buffer), at: place)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return bytes
    }
}
