import CTidemarkZlib

/// The unpacked bytes of an entry of a zip, which are unpacked on request.
struct ZipEntryBytes: ByteSource {
    private let entry: ZipEntry
    private let inflater: Inflater?
    private var packed: [UInt8]
    private var packedRange = 0..<0
    /// The offset of the next packed bytes.
    private var place: Int64
    private var remaining: Int64
    private var produced: Int64 = 0
    private var checksum: UInt
    private var hasEnded = false

    /// The maximum size of an entry. The largest known exports have a few gigabytes.
    static let maxSize: Int64 = 64 << 30
    /// The maximum ratio of compression. Exports shrink to a twentieth; deflate can reach a
    /// thousandth, but only with one repeated byte. The check begins after `judgedFrom` bytes,
    /// which are enough to decide.
    static let maxRatio: Int64 = 300
    private static let judgedFrom: Int64 = 64 << 20
    /// Packed bytes that are read at a time.
    private static let step = 262_144

    init(_ entry: ZipEntry) throws(HealthExportError) {
        self.entry = entry
        let name = entry.file.name
        guard entry.method == 0 || entry.method == 8 else {
            throw .badArchive(file: name, detail: "it is encrypted or packed in an unknown way")
        }
        let isBomb = entry.size > Self.judgedFrom && entry.size / Self.maxRatio > entry.packedSize
        guard entry.size <= Self.maxSize, !isBomb else { throw .tooLarge(file: name) }
        let header = try entry.file.bytes(at: entry.offset, count: 30)
        guard header.count == 30, header[0..<4] == [0x50, 0x4B, 3, 4] else {
            throw .badArchive(file: name, detail: "it is damaged")
        }
        // The header states its own lengths, which can differ from the directory's.
        let names = Int64(header[26]) | Int64(header[27]) << 8
        let extras = Int64(header[28]) | Int64(header[29]) << 8
        place = entry.offset + 30 + names + extras
        remaining = entry.packedSize
        guard place + remaining <= entry.file.size else {
            throw .badArchive(file: name, detail: "it is cut off")
        }
        inflater = entry.method == 8 ? Inflater() : nil
        packed = []
        checksum = crc32(0, nil, 0)
    }

    var progress: (done: Int64, total: Int64) {
        (entry.packedSize - remaining - Int64(packedRange.count), entry.packedSize)
    }

    mutating func read(
        into buffer: UnsafeMutableRawBufferPointer
    ) throws(HealthExportError) -> Int {
        if hasEnded || buffer.isEmpty { return 0 }
        let count = try inflater == nil ? stored(into: buffer) : inflated(into: buffer)
        produced += Int64(count)
        // A wrong size would bypass the limits, which were checked against the stated size.
        guard produced <= entry.size else { throw .tooLarge(file: entry.file.name) }
        checksum = crc32(
            checksum, buffer.baseAddress!.assumingMemoryBound(to: UInt8.self), UInt32(count))
        if hasEnded { try checkEnd() }
        return count
    }

    private func checkEnd() throws(HealthExportError) {
        guard produced == entry.size, UInt32(truncatingIfNeeded: checksum) == entry.checksum else {
            throw .badArchive(file: entry.file.name, detail: "it is damaged")
        }
    }

    private mutating func stored(
        into buffer: UnsafeMutableRawBufferPointer
    ) throws(HealthExportError) -> Int {
        let wanted = UnsafeMutableRawBufferPointer(
            rebasing: buffer[..<min(buffer.count, Int(clamping: remaining))])
        let count = try entry.file.read(into: wanted, at: place)
        guard count == wanted.count else {
            throw .badArchive(file: entry.file.name, detail: "it is cut off")
        }
        place += Int64(count)
        remaining -= Int64(count)
        hasEnded = remaining == 0
        return count
    }

    private mutating func inflated(
        into buffer: UnsafeMutableRawBufferPointer
    ) throws(HealthExportError) -> Int {
        var filled = 0
        while filled < buffer.count, !hasEnded {
            if packedRange.isEmpty { try refill() }
            let range = packedRange
            let free = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
            let step = packed.withUnsafeBytes { bytes in
                inflater!.step(UnsafeRawBufferPointer(rebasing: bytes[range]), free)
            }
            guard let step, step.taken > 0 || step.made > 0 || step.isEnd else {
                throw .badArchive(file: entry.file.name, detail: "it is damaged")
            }
            packedRange = (range.lowerBound + step.taken)..<range.upperBound
            filled += step.made
            hasEnded = step.isEnd
        }
        return filled
    }

    private mutating func refill() throws(HealthExportError) {
        let file = entry.file
        let wanted = min(Self.step, Int(clamping: remaining))
        guard wanted > 0 else { throw .badArchive(file: file.name, detail: "it is cut off") }
        packed = try file.bytes(at: place, count: wanted)
        guard packed.count == wanted else {
            throw .badArchive(file: file.name, detail: "it is cut off")
        }
        place += Int64(wanted)
        remaining -= Int64(wanted)
        packedRange = 0..<wanted
    }
}

/// zlib's inflating, without a header around the data.
// @unchecked: a single reader at a time uses the stream, which is the reader that owns the bytes.
private final class Inflater: @unchecked Sendable {
    private let stream: UnsafeMutablePointer<z_stream>

    init() {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        let code = inflateInit2_(
            stream, -MAX_WBITS, ZLIB_VERSION, CInt(MemoryLayout<z_stream>.size))
        precondition(code == Z_OK, "zlib has no memory, or is another one than that of its header")
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
    }

    /// Returns nil if the data are damaged.
    func step(
        _ input: UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer
    ) -> (taken: Int, made: Int, isEnd: Bool)? {
        // The pointer is mutable because of zlib's header; according to its manual, zlib does not
        // write there.
        stream.pointee.next_in = UnsafeMutableRawPointer(mutating: input.baseAddress)?
            .assumingMemoryBound(to: UInt8.self)
        stream.pointee.avail_in = UInt32(input.count)
        stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
        stream.pointee.avail_out = UInt32(output.count)
        let code = inflate(stream, Z_NO_FLUSH)
        guard code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR else { return nil }
        return (
            input.count - Int(stream.pointee.avail_in),
            output.count - Int(stream.pointee.avail_out), code == Z_STREAM_END
        )
    }
}
