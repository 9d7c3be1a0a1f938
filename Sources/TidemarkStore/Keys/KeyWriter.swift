import Foundation
import TidemarkModel

/// Encodes values so that the order of the bytes is Firestore's order of the values.
///
/// Each component marks its end, so components can be concatenated. A descending component is the
/// inverted bytes of the ascending one. Equal values (`3` and `3.0`, `0.0` and `-0.0`) have equal
/// bytes. Keys are never truncated: the key of a long text is as long as the text, so every
/// comparison is exact.
struct KeyWriter {
    var bytes: [UInt8] = []

    /// A byte below every first byte of a component.
    static let end: UInt8 = 0x01
    private static let more: UInt8 = 0x02
    private static let numericSegment: UInt8 = 0x02
    private static let textSegment: UInt8 = 0x03

    /// Returns the first byte of the values with one rank.
    static func tag(rank: UInt8) -> UInt8 { 0x10 + rank * 4 }

    static let null: [UInt8] = [tag(rank: 0)]
    static let nan: [UInt8] = key(of: .double(.nan))
    private static let text = tag(rank: Value.string("").typeRank)

    static func key(of value: Value, _ direction: Direction = .ascending) -> [UInt8] {
        var writer = KeyWriter()
        writer.append(value, direction)
        return writer.bytes
    }

    mutating func append(_ value: Value, _ direction: Direction) {
        let start = bytes.count
        append(value)
        if direction == .descending { invert(from: start) }
    }

    /// Appends a text given by its UTF-8 bytes.
    mutating func append(text: UnsafeBufferPointer<UInt8>, _ direction: Direction) {
        let start = bytes.count
        bytes.append(Self.text)
        append(escaping: text)
        if direction == .descending { invert(from: start) }
    }

    mutating func invert(from start: Int) {
        for index in start..<bytes.count { bytes[index] = ~bytes[index] }
    }

    mutating func append(_ value: Value) {
        bytes.append(Self.tag(rank: value.typeRank))
        switch value {
        case .null: break
        case .boolean(let value): bytes.append(value ? 1 : 0)
        case .integer(let value): append(integer: value)
        case .double(let value):
            append(double: value)
            append(UInt16(0))
        case .timestamp(let time), .pendingServerTimestamp(let time, _): append(time)
        case .string(let value): append(text: value)
        case .bytes(let value): append(escaping: value)
        case .reference(let value):
            append(text: value.database.name)
            append(path: value.path.text)
        case .geoPoint(let value):
            append(double: value.latitude)
            append(double: value.longitude)
        case .array(let values):
            for value in values { append(value) }
            bytes.append(Self.end)
        case .vector(let value):
            append(UInt32(clamping: value.array.count))
            for component in value.array { append(double: component) }
        case .map(let fields): append(fields)
        }
    }

    private mutating func append(_ fields: MapValue) {
        for entry in fields.entries {
            bytes.append(Self.more)
            append(text: entry.key)
            append(entry.value)
        }
        bytes.append(Self.end)
    }

    private mutating func append(_ time: Timestamp) {
        append(UInt64(time.seconds - Timestamp.min.seconds))
        append(UInt32(time.nanoseconds))
    }
}

// MARK: - Numbers

extension KeyWriter {
    private mutating func append(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
    }

    /// Appends the greatest double that is not above the integer, and the remainder. So integers
    /// and doubles have a common order, also beyond 2^53.
    private mutating func append(integer: Int64) {
        var floor = Double(integer)
        // The conversion rounded up, possibly to 2^63, which exceeds every integer.
        if floor >= 0x1p63 || Int64(floor) > integer { floor = floor.nextDown }
        append(double: floor)
        append(UInt16(integer - Int64(floor)))
    }

    /// Appends a double. NaN is less than all numbers, and `-0.0` equals `0.0`.
    private mutating func append(double: Double) {
        if double.isNaN { return append(UInt64(0)) }
        let bits = double == 0 ? 0 : double.bitPattern
        let sign: UInt64 = 1 << 63
        append(bits & sign == 0 ? bits | sign : ~bits)
    }
}

// MARK: - Text and names

extension KeyWriter {
    /// Appends a text. Zero bytes become `00 FF` and the end `00 01`, so that a text precedes the
    /// texts that it begins.
    mutating func append(text: String) {
        var text = text
        text.withUTF8 { append(escaping: $0) }
    }

    private mutating func append(escaping text: some Collection<UInt8>) {
        if text.contains(0) {
            for byte in text {
                bytes.append(byte)
                if byte == 0 { bytes.append(0xFF) }
            }
        } else {
            bytes.append(contentsOf: text)
        }
        bytes.append(0)
        bytes.append(Self.end)
    }

    /// Appends a path segment by segment. A path precedes the paths that it begins.
    mutating func append(path: String) {
        appendSegments(of: path)
        bytes.append(Self.end)
    }

    mutating func appendSegments(of path: String) {
        var path = path
        path.withUTF8 { buffer in
            var start = 0
            for end in 0...buffer.count
            where end == buffer.count || buffer[end] == UInt8(ascii: "/") {
                if start < end {
                    append(segment: UnsafeBufferPointer(rebasing: buffer[start..<end]))
                }
                start = end + 1
            }
        }
    }

    /// Appends a segment of a path. Numeric ids come first, ordered by number; other ids are
    /// ordered by bytes.
    mutating func append(segment: UnsafeBufferPointer<UInt8>) {
        guard let number = PathRules.numericID(segment) else {
            bytes.append(Self.textSegment)
            append(escaping: segment)
            return
        }
        bytes.append(Self.numericSegment)
        append(UInt64(bitPattern: number) ^ (1 << 63))
    }

    /// Returns the id that ``append(segment:)`` wrote, and the start of the next segment.
    static func segment(in key: UnsafeRawBufferPointer) -> (id: String, end: Int)? {
        guard let kind = key.first else { return nil }
        if kind == textSegment { return text(in: key, from: 1) }
        guard kind == numericSegment, key.count >= 9 else { return nil }
        let bits = UInt64(bigEndian: key.loadUnaligned(fromByteOffset: 1, as: UInt64.self))
        return ("__id\(Int64(bitPattern: bits ^ (1 << 63)))__", 9)
    }

    /// Returns the bytes of a segment that is the whole key and has no escaped bytes; nil
    /// otherwise.
    static func plainText(in key: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        guard key.count > 3, key[0] == textSegment, key[key.count - 1] == end else { return nil }
        let text = UnsafeRawBufferPointer(rebasing: key[1..<(key.count - 1)])
        guard memchr(text.baseAddress!, 0, text.count) == text.baseAddress! + (text.count - 1)
        else { return nil }
        return UnsafeRawBufferPointer(rebasing: text[..<(text.count - 1)])
    }

    private static func text(
        in key: UnsafeRawBufferPointer, from start: Int
    ) -> (id: String, end: Int)? {
        var index = start
        var unescaped: [UInt8]?
        while index < key.count {
            guard key[index] == 0 else {
                unescaped?.append(key[index])
                index += 1
                continue
            }
            guard index + 1 < key.count else { return nil }
            if key[index + 1] == end {
                let id =
                    unescaped.map { String(decoding: $0, as: UTF8.self) }
                    ?? String(decoding: key[start..<index], as: UTF8.self)
                return (id, index + 2)
            }
            if unescaped == nil { unescaped = Array(key[start..<index]) }
            unescaped?.append(0)
            index += 2
        }
        return nil
    }
}
