/// Reads protobuf's wire form from memory that outlives the reader. Never reads past the buffer,
/// and throws on bad input.
package struct WireReader {
    private var next: UnsafePointer<UInt8>
    private let end: UnsafePointer<UInt8>

    package init(_ buffer: UnsafeBufferPointer<UInt8>) {
        // An empty buffer may lack an address. Nothing is read through the substitute.
        next = buffer.baseAddress ?? UnsafePointer(bitPattern: 1)!
        end = next + buffer.count
    }

    package var isAtEnd: Bool { next == end }

    /// The bytes that are not read yet.
    package var rest: UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: next, count: end - next)
    }

    /// Reads a field's number and wire type as one integer: `field << 3 | wire type`.
    @inline(__always)
    package mutating func tag() throws(CodecError) -> UInt64 {
        let raw = try varint()
        guard raw >> 3 != 0, raw >> 3 <= 536_870_911 else { throw .malformed }
        return raw
    }

    @inline(__always)
    package mutating func varint() throws(CodecError) -> UInt64 {
        if next < end, next.pointee < 0x80 {
            defer { next += 1 }
            return UInt64(next.pointee)
        }
        return try longVarint()
    }

    private mutating func longVarint() throws(CodecError) -> UInt64 {
        var result: UInt64 = 0
        var shift: UInt64 = 0
        while next < end {
            let byte = next.pointee
            next += 1
            if shift == 63, byte > 1 { throw .malformed }
            result |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return result }
            shift += 7
            if shift > 63 { throw .malformed }
        }
        throw .truncated
    }

    package mutating func byte() throws(CodecError) -> UInt8 {
        guard next < end else { throw .truncated }
        defer { next += 1 }
        return next.pointee
    }

    package mutating func fixed64() throws(CodecError) -> UInt64 {
        guard end - next >= 8 else { throw .truncated }
        let value = UnsafeRawPointer(next).loadUnaligned(as: UInt64.self)
        next += 8
        return UInt64(littleEndian: value)
    }

    @inline(__always)
    package mutating func lengthDelimited() throws(CodecError) -> UnsafeBufferPointer<UInt8> {
        let length = try varint()
        guard length <= UInt64(end - next) else { throw .truncated }
        let slice = UnsafeBufferPointer(start: next, count: Int(length))
        next += Int(length)
        return slice
    }

    @inline(__always)
    package mutating func message() throws(CodecError) -> WireReader {
        WireReader(try lengthDelimited())
    }

    package mutating func text() throws(CodecError) -> String {
        try Self.text(try lengthDelimited())
    }

    /// Decodes UTF-8 strictly. Decoding repairs invalid bytes, so a result with other bytes proves
    /// them invalid. For short texts this is five times as fast as `String(validating:as:)`.
    package static func text(_ bytes: UnsafeBufferPointer<UInt8>) throws(CodecError) -> String {
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.withBytes({ Comparison.bytes($0, bytes) }) == .equal else { throw .invalidUTF8 }
        return text
    }

    /// Skips the contents of the field whose tag was read last.
    package mutating func skip(_ tag: UInt64) throws(CodecError) {
        switch tag & 7 {
        case 0: _ = try varint()
        case 1: _ = try fixed64()
        case 2: _ = try lengthDelimited()
        case 5:
            guard end - next >= 4 else { throw .truncated }
            next += 4
        default: throw .malformed
        }
    }

    /// Counts the messages with this tag before the first other field, as a capacity to reserve.
    ///
    /// - Parameters:
    ///   - length: The minimum length of a message. Shorter ones are not counted, so the bytes that
    ///     a caller has read bound the memory that it reserves.
    ///   - limit: The maximum result.
    func countOfMessages(
        tagged tag: UInt64, ofAtLeast length: Int = 0, upTo limit: Int = 4_096
    ) -> Int {
        var copy = self
        var count = 0
        while count < limit, !copy.isAtEnd, let found = try? copy.tag(), found == tag,
            let message = try? copy.lengthDelimited()
        { if message.count >= length { count += 1 } }
        return count
    }
}
