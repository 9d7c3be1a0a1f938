import TidemarkModel

/// Reads protobuf's wire form of messages, as strictly as SwiftProtobuf does. Takes parts of the
/// bytes without copying them.
struct MessageReader {
    /// The maximum number of messages and groups inside each other, the outermost included.
    private static let maxDepth = 100

    private let whole: [UInt8]
    private var next: Int
    private let end: Int
    private var depth: Int

    init(_ bytes: [UInt8]) { self.init(bytes, 0..<bytes.count, depth: 1) }

    private init(_ whole: [UInt8], _ range: Range<Int>, depth: Int) {
        self.whole = whole
        self.depth = depth
        next = range.lowerBound
        end = range.upperBound
    }

    var isAtEnd: Bool { next == end }

    /// Reads a field's number and wire type as one integer: `number << 3 | wire type`.
    mutating func tag() throws(CodecError) -> UInt64 {
        let start = next
        let tag = try groupTag()
        guard next - start <= 5 else { throw .malformed }
        return tag
    }

    /// Reads a tag inside a group that is skipped. Its varint may have superfluous bytes.
    private mutating func groupTag() throws(CodecError) -> UInt64 {
        let tag = try varint()
        guard tag <= UInt64(UInt32.max), tag >> 3 != 0, tag & 7 <= 5 else { throw .malformed }
        return tag
    }

    /// Reads up to ten bytes. Drops bits above the 64th.
    mutating func varint() throws(CodecError) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while next < end, shift <= 63 {
            let byte = whole[next]
            next += 1
            value |= UInt64(byte & 0x7F) &<< shift
            if byte < 0x80 { return value }
            shift += 7
        }
        throw .malformed
    }

    mutating func fixed64() throws(CodecError) -> UInt64 {
        try advance(by: 8)
        var value: UInt64 = 0
        for byte in whole[next - 8..<next].reversed() { value = value << 8 | UInt64(byte) }
        return value
    }

    mutating func bytes() throws(CodecError) -> MessageBytes { MessageBytes(whole, try range()) }

    mutating func text() throws(CodecError) -> String {
        let range = try range()
        // A `Result` carries the typed error through the standard library's closure.
        let text: Result<String, CodecError> = whole.withUnsafeBufferPointer { bytes in
            let part = UnsafeBufferPointer(rebasing: bytes[range])
            do throws(CodecError) { return .success(try WireReader.text(part)) } catch {
                return .failure(error)
            }
        }
        return try text.get()
    }

    /// Returns a reader of a nested message.
    mutating func message() throws(CodecError) -> MessageReader {
        let range = try range()
        guard depth < Self.maxDepth else { throw .tooDeep }
        return MessageReader(whole, range, depth: depth + 1)
    }

    /// Returns a reader of contents that are no message: packed numbers, or an entry of a map.
    mutating func contents() throws(CodecError) -> MessageReader {
        MessageReader(whole, try range(), depth: depth)
    }

    /// Skips the contents of the field whose tag was read last.
    mutating func skip(_ tag: UInt64) throws(CodecError) {
        switch tag & 7 {
        case 0: _ = try varint()
        case 1: try advance(by: 8)
        case 2: _ = try range()
        case 3: try skipGroup(tag >> 3)
        case 5: try advance(by: 4)
        default: throw .malformed
        }
    }

    private mutating func skipGroup(_ number: UInt64) throws(CodecError) {
        guard depth < Self.maxDepth else { throw .tooDeep }
        depth += 1
        while true {
            let tag = try groupTag()
            if tag & 7 == 4 {
                guard tag >> 3 == number else { throw .malformed }
                break
            }
            try skip(tag)
        }
        depth -= 1
    }

    /// Reads a length, and steps over the contents.
    private mutating func range() throws(CodecError) -> Range<Int> {
        let length = try varint()
        guard length <= UInt64(end - next) else { throw .truncated }
        let start = next
        next += Int(length)
        return start..<next
    }

    private mutating func advance(by count: Int) throws(CodecError) {
        guard end - next >= count else { throw .truncated }
        next += count
    }
}
