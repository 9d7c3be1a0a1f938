import Foundation
import TidemarkModel
import TidemarkSystem

/// Writes a LevelDB log. Without ``finish()``, the log is invalid.
struct LogWriter {
    /// The bytes that are collected before a write.
    private static let bufferSize = 1 << 18

    private let file: FileHandle
    private let path: String
    private var buffer: [UInt8] = []
    /// The used bytes of the current block.
    private var used = 0
    /// The bytes of the whole log.
    private(set) var size: Int64 = 0

    init(_ path: String) throws(ExportError) {
        self.path = path
        let descriptor = PrivateFiles.create(path)
        guard descriptor >= 0 else { throw .file(path: path, reason: "the file cannot be created") }
        file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        buffer.reserveCapacity(Self.bufferSize + LogFormat.blockSize)
    }

    mutating func append(_ record: [UInt8]) throws(ExportError) {
        var offset = 0
        var isFirst = true
        repeat {
            let room = LogFormat.blockSize - used
            if room < LogFormat.headerSize {
                put(repeatElement(0, count: room))
                used = 0
                continue
            }
            let count = min(record.count - offset, room - LogFormat.headerSize)
            let isLast = offset + count == record.count
            let part: LogFormat.Part =
                isFirst ? (isLast ? .full : .first) : (isLast ? .last : .middle)
            put(part, record[offset..<(offset + count)])
            offset += count
            isFirst = false
        } while isFirst || offset < record.count
        if buffer.count >= Self.bufferSize { try flush() }
    }

    private mutating func put(_ part: LogFormat.Part, _ bytes: ArraySlice<UInt8>) {
        let checksum = bytes.withUnsafeBytes { Checksum.masked(type: part.rawValue, $0) }
        withUnsafeBytes(of: checksum.littleEndian) { put($0) }
        withUnsafeBytes(of: UInt16(bytes.count).littleEndian) { put($0) }
        put(CollectionOfOne(part.rawValue))
        put(bytes)
    }

    private mutating func put(_ bytes: some Collection<UInt8>) {
        buffer.append(contentsOf: bytes)
        used += bytes.count
        size += Int64(bytes.count)
    }

    private mutating func flush() throws(ExportError) {
        do { try file.write(contentsOf: buffer) } catch {
            throw .file(path: path, reason: "\(error.localizedDescription)")
        }
        buffer.removeAll(keepingCapacity: true)
    }

    /// Writes the rest, and waits until all data are on the disk.
    mutating func finish() throws(ExportError) {
        try flush()
        do {
            try file.synchronize()
            try file.close()
        } catch { throw .file(path: path, reason: "\(error.localizedDescription)") }
    }
}
