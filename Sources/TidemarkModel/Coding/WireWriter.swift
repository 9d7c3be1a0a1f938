/// Writes protobuf's wire form.
package struct WireWriter {
    package private(set) var bytes: [UInt8] = []

    /// - Parameter capacity: The approximate number of bytes that will be written.
    package init(capacity: Int = 0) { bytes.reserveCapacity(capacity) }

    @inline(__always)
    package mutating func varint(_ value: UInt64) {
        if value < 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: value))
        } else {
            longVarint(value)
        }
    }

    private mutating func longVarint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    @inline(__always)
    package mutating func tag(_ field: UInt64, _ wireType: UInt64) { varint(field << 3 | wireType) }

    package mutating func byte(_ value: UInt8) { bytes.append(value) }

    /// Appends bytes that are already encoded.
    package mutating func append(_ encoded: [UInt8]) { bytes.append(contentsOf: encoded) }

    package mutating func fixed64(_ value: UInt64) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    package mutating func text(_ field: UInt64, _ value: String) {
        tag(field, 2)
        text(value)
    }

    /// Writes the length of the text and its UTF-8 bytes.
    package mutating func text(_ value: String) {
        value.withBytes { utf8 in
            varint(UInt64(utf8.count))
            bytes.append(contentsOf: utf8)
        }
    }

    package mutating func data(_ field: UInt64, _ value: [UInt8]) {
        tag(field, 2)
        data(value)
    }

    /// Writes the length of the bytes and the bytes.
    package mutating func data(_ value: [UInt8]) {
        varint(UInt64(value.count))
        bytes.append(contentsOf: value)
    }

    /// Writes the length of the bytes and the bytes.
    package mutating func data(_ value: UnsafeBufferPointer<UInt8>) {
        varint(UInt64(value.count))
        bytes.append(contentsOf: value)
    }

    @inline(__always)
    package mutating func message(_ field: UInt64, _ body: (inout WireWriter) -> Void) {
        tag(field, 2)
        message(body)
    }

    /// Writes the length of a nested message and the message. Reserves one byte for the length,
    /// which nearly always suffices; for a longer message, the contents move up once.
    @inline(__always)
    package mutating func message(_ body: (inout WireWriter) -> Void) {
        let start = bytes.count
        bytes.append(0)
        body(&self)
        let length = bytes.count - start - 1
        if length < 0x80 {
            bytes[start] = UInt8(truncatingIfNeeded: length)
        } else {
            widenLength(at: start, to: UInt64(length))
        }
    }

    private mutating func widenLength(at start: Int, to length: UInt64) {
        let end = bytes.count
        var rest = length
        while rest >= 0x80 {
            bytes.append(0)
            rest >>= 7
        }
        let width = bytes.count - end + 1
        bytes.withUnsafeMutableBytes { buffer in
            let contents = buffer.baseAddress! + start + 1
            (contents + width - 1).copyMemory(from: contents, byteCount: end - start - 1)
            var rest = length
            for index in start..<(start + width) {
                buffer[index] = UInt8(truncatingIfNeeded: rest) | 0x80
                rest >>= 7
            }
            buffer[start + width - 1] &= 0x7F
        }
    }
}
