/// The position and kind of one value in encoded fields. A decoder looks up slots instead of
/// decoding every ``Value``.
package struct EncodedSlot: Sendable {
    package enum Kind: Sendable {
        case null, boolean, integer, double, string, bytes, reference, timestamp, geoPoint, array
        case map
    }

    package let kind: Kind
    /// The bytes of the key in a map; empty elsewhere.
    package let key: Range<Int>
    /// The bytes of the whole `Value` message.
    package let message: Range<Int>
    /// The bytes of the contents; empty for kinds whose whole value is in ``bits``.
    package let payload: Range<Int>
    /// The value of a boolean, an integer or a double.
    package let bits: UInt64
}

// These functions make one pass over the requested bytes and skip the values nested inside them.

extension EncodedSlot {
    /// Returns the fields of a document, in the byte order of their keys.
    package static func fields(
        of bytes: [UInt8]
    ) throws(CodecError) -> [EncodedSlot] {
        try entries(of: bytes, in: 0..<bytes.count, field: FieldsCodec.documentFields)
    }

    /// Returns the entries of a map value.
    package static func entries(
        of map: EncodedSlot, in bytes: [UInt8]
    ) throws(CodecError) -> [EncodedSlot] {
        precondition(map.kind == .map)
        return try entries(of: bytes, in: map.payload, field: FieldsCodec.mapFields)
    }

    private static func entries(
        of bytes: [UInt8], in range: Range<Int>, field: UInt64
    ) throws(CodecError) -> [EncodedSlot] {
        try scan(bytes, range: range) { reader, start, found throws(CodecError) in
            guard try reader.tag() == field << 3 | 2 else { throw .malformed }
            var entry = try reader.message()
            guard try entry.tag() == 1 << 3 | 2 else { throw .malformed }
            let key = try entry.lengthDelimited()
            guard try entry.tag() == 2 << 3 | 2 else { throw .malformed }
            found.append(try slot(try entry.lengthDelimited(), key: offsets(key, start), start))
        }
    }

    /// Returns the elements of an array value.
    package static func elements(
        of array: EncodedSlot, in bytes: [UInt8]
    ) throws(CodecError) -> [EncodedSlot] {
        precondition(array.kind == .array)
        return try scan(bytes, range: array.payload) { reader, start, found throws(CodecError) in
            guard try reader.tag() == 1 << 3 | 2 else { throw .malformed }
            found.append(try slot(try reader.lengthDelimited(), key: 0..<0, start))
        }
    }

    /// Returns the slot of the one value that `bytes` encodes.
    package static func value(of bytes: [UInt8]) throws(CodecError) -> EncodedSlot {
        let result: Result<EncodedSlot, CodecError> = bytes.withUnsafeBufferPointer { buffer in
            do throws(CodecError) {
                return .success(try slot(buffer, key: 0..<0, buffer.baseAddress))
            } catch { return .failure(error) }
        }
        return try result.get()
    }

    private static func scan(
        _ bytes: [UInt8], range: Range<Int>,
        _ next: (inout WireReader, UnsafePointer<UInt8>?, inout [EncodedSlot]) throws(CodecError)
            -> Void
    ) throws(CodecError) -> [EncodedSlot] {
        let result: Result<[EncodedSlot], CodecError> = bytes.withUnsafeBufferPointer { buffer in
            var reader = WireReader(UnsafeBufferPointer(rebasing: buffer[range]))
            var found: [EncodedSlot] = []
            found.reserveCapacity(8)
            do throws(CodecError) {
                while !reader.isAtEnd { try next(&reader, buffer.baseAddress, &found) }
                return .success(found)
            } catch { return .failure(error) }
        }
        return try result.get()
    }

    private static func offsets(
        _ slice: UnsafeBufferPointer<UInt8>, _ start: UnsafePointer<UInt8>?
    ) -> Range<Int> {
        guard let base = slice.baseAddress, let start else { return 0..<0 }
        let first = base - start
        return first..<first + slice.count
    }

    /// Canonical bytes hold one kind. If other bytes hold several, the last one counts.
    private static func slot(
        _ message: UnsafeBufferPointer<UInt8>, key: Range<Int>, _ start: UnsafePointer<UInt8>?
    ) throws(CodecError) -> EncodedSlot {
        var reader = WireReader(message)
        var kind: Kind?
        var payload = 0..<0
        var bits: UInt64 = 0
        while !reader.isAtEnd {
            let tag = try reader.tag()
            switch tag {
            case 17 << 3 | 2: kind = .string
            case 2 << 3 | 0: kind = .integer
            case 1 << 3 | 0: kind = .boolean
            case 3 << 3 | 1: kind = .double
            case 11 << 3 | 0: kind = .null
            case 18 << 3 | 2: kind = .bytes
            case 5 << 3 | 2: kind = .reference
            case 10 << 3 | 2: kind = .timestamp
            case 8 << 3 | 2: kind = .geoPoint
            case 9 << 3 | 2: kind = .array
            case 6 << 3 | 2: kind = .map
            default: throw .malformed
            }
            switch tag & 7 {
            case 0: bits = try reader.varint()
            case 1: bits = try reader.fixed64()
            default: payload = offsets(try reader.lengthDelimited(), start)
            }
        }
        guard let kind else { throw .noKind }
        return EncodedSlot(
            kind: kind, key: key, message: offsets(message, start), payload: payload, bits: bits)
    }
}

extension EncodedSlot {
    /// Decodes the value.
    package func value(in bytes: [UInt8]) throws(CodecError) -> Value {
        try FieldsCodec.decodeValue(Array(bytes[message]))
    }

    /// - Precondition: The value is a timestamp.
    package func timestamp(in bytes: [UInt8]) throws(CodecError) -> Timestamp {
        precondition(kind == .timestamp)
        let result: Result<Timestamp, CodecError> = bytes.withUnsafeBufferPointer { buffer in
            var reader = WireReader(UnsafeBufferPointer(rebasing: buffer[payload]))
            do throws(CodecError) { return .success(try FieldsCodec.timestamp(&reader)) } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    /// - Precondition: The value is a string.
    package func text(in bytes: [UInt8]) -> String {
        precondition(kind == .string)
        return bytes.withUnsafeBufferPointer { buffer in
            String(decoding: UnsafeBufferPointer(rebasing: buffer[payload]), as: UTF8.self)
        }
    }

    package func keyText(in bytes: [UInt8]) -> String {
        bytes.withUnsafeBufferPointer { buffer in
            String(decoding: UnsafeBufferPointer(rebasing: buffer[key]), as: UTF8.self)
        }
    }
}

extension [EncodedSlot] {
    /// Returns the index of a key. Searches from `hint` to the end and then from the start, so
    /// lookups in key order find each key at the first step.
    package func index(of key: String, in bytes: [UInt8], hint: Int) -> Int? {
        var key = key
        let count = count
        return key.withUTF8 { wanted in
            bytes.withUnsafeBufferPointer { buffer in
                for step in 0..<count {
                    let index = hint + step < count ? hint + step : hint + step - count
                    let range = self[index].key
                    guard range.count == wanted.count else { continue }
                    let found = UnsafeBufferPointer(rebasing: buffer[range])
                    if found.elementsEqual(wanted) { return index }
                }
                return nil
            }
        }
    }
}

/// The keys of special maps begin with two underscores; an app's keys never do.
extension EncodedSlot {
    package static func areSpecial(_ entries: [EncodedSlot], in bytes: [UInt8]) -> Bool {
        guard let first = entries.first, first.key.count >= 2 else { return false }
        return bytes[first.key.lowerBound] == UInt8(ascii: "_")
            && bytes[first.key.lowerBound + 1] == UInt8(ascii: "_")
    }
}
