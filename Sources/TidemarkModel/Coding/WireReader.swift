/// Reads protobuf's wire form from memory that outlives it. Bounded by its buffer and total.
struct WireReader {
    private var next: UnsafePointer<UInt8>
    private let end: UnsafePointer<UInt8>

    init(_ buffer: UnsafeBufferPointer<UInt8>) {
        // An empty buffer may have no address; any one serves when nothing is read through it.
        next = buffer.baseAddress ?? UnsafePointer(bitPattern: 1)!
        end = next + buffer.count
    }

    var isAtEnd: Bool { next == end }

    mutating func tag() throws(CodecError) -> (field: Int, wireType: UInt8) {
        let raw = try varint()
        guard raw >> 3 != 0, raw >> 3 <= 536_870_911 else { throw .malformed }
        return (Int(raw >> 3), UInt8(raw & 7))
    }

    mutating func varint() throws(CodecError) -> UInt64 {
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

    mutating func fixed64() throws(CodecError) -> UInt64 {
        guard end - next >= 8 else { throw .truncated }
        let value = UnsafeRawPointer(next).loadUnaligned(as: UInt64.self)
        next += 8
        return UInt64(littleEndian: value)
    }

    mutating func lengthDelimited() throws(CodecError) -> UnsafeBufferPointer<UInt8> {
        let length = try varint()
        guard length <= UInt64(end - next) else { throw .truncated }
        let slice = UnsafeBufferPointer(start: next, count: Int(length))
        next += Int(length)
        return slice
    }

    mutating func message() throws(CodecError) -> WireReader {
        WireReader(try lengthDelimited())
    }

    mutating func text() throws(CodecError) -> String {
        guard let text = String(validating: try lengthDelimited(), as: UTF8.self) else {
            throw .invalidUTF8
        }
        return text
    }

    mutating func skip(wireType: UInt8) throws(CodecError) {
        switch wireType {
        case 0: _ = try varint()
        case 1: _ = try fixed64()
        case 2: _ = try lengthDelimited()
        case 5:
            guard end - next >= 4 else { throw .truncated }
            next += 4
        default: throw .malformed
        }
    }
}
