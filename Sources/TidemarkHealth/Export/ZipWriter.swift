import CTidemarkZlib

/// Writes a zip of one entry as a stream. The sizes follow the data, as phones write them, and have
/// the 64-bit form from 4 GB on.
public final class ZipWriter {
    private let name: [UInt8]
    private let write: ([UInt8]) throws -> Void
    private let stream: UnsafeMutablePointer<z_stream>
    private var checksum: UInt
    private var size: UInt64 = 0
    private var packedSize: UInt64 = 0
    private var hasBegun = false

    /// - Parameters:
    ///   - name: The name of the entry.
    ///   - write: Called with each part of the zip, in order.
    public init(entry name: String, _ write: @escaping ([UInt8]) throws -> Void) {
        self.name = Array(name.utf8)
        self.write = write
        checksum = crc32(0, nil, 0)
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        let code = deflateInit2_(
            stream, 1, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
            CInt(MemoryLayout<z_stream>.size))
        precondition(code == Z_OK, "zlib has no memory, or is another one than that of its header")
    }

    deinit {
        deflateEnd(stream)
        stream.deallocate()
    }

    public func add(_ bytes: [UInt8]) throws {
        try begin()
        size += UInt64(bytes.count)
        checksum = crc32(checksum, bytes, UInt32(bytes.count))
        try deflate(bytes, Z_NO_FLUSH)
    }

    /// Must be called once, at the end.
    public func finish() throws {
        try begin()
        try deflate([], Z_FINISH)
        // The descriptor behind the data contains the facts that were unknown before.
        let isLarge = max(size, packedSize) >= UInt64(UInt32.max)
        var end: [UInt8] = []
        end.put(0x0807_4B50, 4)
        end.put(UInt64(checksum), 4)
        end.put(packedSize, isLarge ? 8 : 4)
        end.put(size, isLarge ? 8 : 4)
        let directory = localSize + packedSize + UInt64(end.count)
        end += directoryEntry(isLarge)
        let directorySize = localSize + packedSize + UInt64(end.count) - directory
        if isLarge || directory >= UInt64(UInt32.max) {
            end += largeEnd(directory, directorySize)
        }
        end.put(0x0605_4B50, 4)
        end.put(0, 4)
        end.put(1, 2)
        end.put(1, 2)
        end.put(directorySize, 4)
        end.put(min(directory, UInt64(UInt32.max)), 4)
        end.put(0, 2)
        try write(end)
    }

    private var localSize: UInt64 { 30 + UInt64(name.count) }

    private func begin() throws {
        if hasBegun { return }
        hasBegun = true
        var header: [UInt8] = []
        header.put(0x0403_4B50, 4)
        header.put(20, 2)
        // The sizes follow the data; the name is UTF-8.
        header.put(0x0808, 2)
        header.put(8, 2)
        header.put(0, 4 + 4 + 4 + 4)
        header.put(UInt64(name.count), 2)
        header.put(0, 2)
        try write(header + name)
    }

    private func directoryEntry(_ isLarge: Bool) -> [UInt8] {
        let full = UInt64(UInt32.max)
        var entry: [UInt8] = []
        entry.put(0x0201_4B50, 4)
        entry.put(45, 2)
        entry.put(isLarge ? 45 : 20, 2)
        entry.put(0x0808, 2)
        entry.put(8, 2)
        entry.put(0, 4)
        entry.put(UInt64(checksum), 4)
        entry.put(isLarge ? full : packedSize, 4)
        entry.put(isLarge ? full : size, 4)
        entry.put(UInt64(name.count), 2)
        entry.put(isLarge ? 20 : 0, 2)
        entry.put(0, 2 + 2 + 2 + 4 + 4)
        entry += name
        if isLarge {
            entry.put(1, 2)
            entry.put(16, 2)
            entry.put(size, 8)
            entry.put(packedSize, 8)
        }
        return entry
    }

    private func largeEnd(_ directory: UInt64, _ directorySize: UInt64) -> [UInt8] {
        var end: [UInt8] = []
        end.put(0x0606_4B50, 4)
        end.put(44, 8)
        end.put(45, 2)
        end.put(45, 2)
        end.put(0, 8)
        end.put(1, 8)
        end.put(1, 8)
        end.put(directorySize, 8)
        end.put(directory, 8)
        end.put(0x0706_4B50, 4)
        end.put(0, 4)
        end.put(directory + directorySize, 8)
        end.put(1, 4)
        return end
    }

    private func deflate(_ bytes: [UInt8], _ flush: CInt) throws {
        var output = [UInt8](repeating: 0, count: 65_536)
        try bytes.withUnsafeBytes { input in
            // The pointer is mutable because of zlib's header; according to its manual, zlib does
            // not write there.
            stream.pointee.next_in = UnsafeMutableRawPointer(mutating: input.baseAddress)?
                .assumingMemoryBound(to: UInt8.self)
            stream.pointee.avail_in = UInt32(input.count)
            repeat {
                let made = output.withUnsafeMutableBufferPointer { space in
                    stream.pointee.next_out = space.baseAddress
                    stream.pointee.avail_out = UInt32(space.count)
                    _ = CTidemarkZlib.deflate(stream, flush)
                    return space.count - Int(stream.pointee.avail_out)
                }
                packedSize += UInt64(made)
                if made > 0 { try write(Array(output[..<made])) }
            } while stream.pointee.avail_out == 0
        }
    }
}

extension [UInt8] {
    /// Little-endian, in so many bytes.
    fileprivate mutating func put(_ number: UInt64, _ count: Int) {
        for byte in 0..<count {
            append(byte < 8 ? UInt8(truncatingIfNeeded: number >> (8 * UInt64(byte))) : 0)
        }
    }
}
