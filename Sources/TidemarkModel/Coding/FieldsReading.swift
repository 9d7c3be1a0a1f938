// Reads values in one pass over the bytes, and copies only the bytes that the result keeps.
//
// A tag is compared whole (`field << 3 | wire type`), which takes one comparison. A field with an
// unexpected wire type is skipped, as protobuf requires.

extension FieldsCodec {
    /// The length of the shortest value: a tag, and a number of one byte.
    private static let leastValueBytes = 2
    /// The length of the shortest entry: a tag, a length, and the shortest value.
    private static let leastEntryBytes = 4

    /// Reads every entry of a map whose entries are field `field` of the message. Skips other
    /// fields.
    ///
    /// Encoders write maps in any order. Entries in key order, as this codec writes them, cost no
    /// sorting. Others are sorted once at the end.
    static func entries(
        _ reader: inout WireReader, field: UInt64, depth: Int
    ) throws(CodecError) -> MapValue {
        if depth > maxDepth { throw .tooDeep }
        let entryTag = field << 3 | 2
        var result: [MapValue.Entry] = []
        result.reserveCapacity(
            reader.countOfMessages(tagged: entryTag, ofAtLeast: leastEntryBytes, upTo: .max))
        var previous: UnsafeBufferPointer<UInt8>?
        var inOrder = true
        while !reader.isAtEnd {
            let tag = try reader.tag()
            guard tag == entryTag else {
                try reader.skip(tag)
                continue
            }
            var entry = try reader.message()
            var key = UnsafeBufferPointer<UInt8>(start: nil, count: 0)
            let value = try mapEntry(&entry, key: &key, depth: depth)
            switch previous.map({ Comparison.bytes($0, key) }) {
            case .equal?:
                // The last of several entries with a key counts.
                result[result.count - 1].value = value
                continue
            case .descending?: inOrder = false
            case .ascending?, nil: break
            }
            previous = key
            result.append(MapValue.Entry(key: try WireReader.text(key), value: value))
        }
        if !inOrder { MapValue.sort(&result) }
        return MapValue(ordered: result)
    }

    /// Reads the value of an entry, and sets `key` to the bytes of its key in the message.
    private static func mapEntry(
        _ reader: inout WireReader, key: inout UnsafeBufferPointer<UInt8>, depth: Int
    ) throws(CodecError) -> Value {
        var found: Value?
        while !reader.isAtEnd {
            let tag = try reader.tag()
            switch tag {
            case 1 << 3 | 2: key = try reader.lengthDelimited()
            case 2 << 3 | 2:
                var inner = try reader.message()
                found = try value(&inner, depth: depth)
            default: try reader.skip(tag)
            }
        }
        guard let found else { throw .noKind }
        return found
    }

    /// Reads a `Value` message. When the message sets several kinds, the last one counts.
    static func value(_ reader: inout WireReader, depth: Int) throws(CodecError) -> Value {
        var result: Value?
        while !reader.isAtEnd {
            let tag = try reader.tag()
            switch tag {
            case 17 << 3 | 2: result = .string(try reader.text())
            case 2 << 3 | 0: result = .integer(Int64(bitPattern: try reader.varint()))
            case 1 << 3 | 0: result = .boolean(try reader.varint() != 0)
            case 3 << 3 | 1: result = .double(Double(bitPattern: try reader.fixed64()))
            case 11 << 3 | 0:
                _ = try reader.varint()
                result = .null
            case 18 << 3 | 2: result = .bytes(Array(try reader.lengthDelimited()))
            case 5 << 3 | 2: result = .reference(try reference(try reader.text()))
            case 19 << 3 | 2, 20 << 3 | 2, 21 << 3 | 2, 22 << 3 | 2:
                throw .unsupportedKind(field: Int(tag >> 3))
            case 10 << 3 | 2, 8 << 3 | 2, 9 << 3 | 2, 6 << 3 | 2:
                var inner = try reader.message()
                result = try nested(&inner, tag: tag, depth: depth)
            default: try reader.skip(tag)
            }
        }
        guard let result else { throw .noKind }
        return result
    }

    private static func nested(
        _ reader: inout WireReader, tag: UInt64, depth: Int
    ) throws(CodecError) -> Value {
        switch tag >> 3 {
        case 10: .timestamp(try timestamp(&reader))
        case 8: .geoPoint(try geoPoint(&reader))
        case 9: .array(try array(&reader, depth: depth + 1))
        default: special(try entries(&reader, field: mapFields, depth: depth + 1))
        }
    }

    static func array(_ reader: inout WireReader, depth: Int) throws(CodecError) -> [Value] {
        if depth > maxDepth { throw .tooDeep }
        var result: [Value] = []
        result.reserveCapacity(
            reader.countOfMessages(tagged: 1 << 3 | 2, ofAtLeast: leastValueBytes, upTo: .max))
        while !reader.isAtEnd {
            let tag = try reader.tag()
            guard tag == 1 << 3 | 2 else {
                try reader.skip(tag)
                continue
            }
            var inner = try reader.message()
            result.append(try value(&inner, depth: depth))
        }
        return result
    }

    package static func timestamp(_ reader: inout WireReader) throws(CodecError) -> Timestamp {
        var seconds: Int64 = 0
        var nanoseconds: Int64 = 0
        while !reader.isAtEnd {
            let tag = try reader.tag()
            switch tag {
            case 1 << 3 | 0: seconds = Int64(bitPattern: try reader.varint())
            case 2 << 3 | 0: nanoseconds = Int64(bitPattern: try reader.varint())
            default: try reader.skip(tag)
            }
        }
        guard let fraction = Int32(exactly: nanoseconds),
            Timestamp.isValid(seconds: seconds, nanoseconds: fraction)
        else { throw .outOfRange }
        return Timestamp(seconds: seconds, nanoseconds: fraction)
    }

    static func geoPoint(_ reader: inout WireReader) throws(CodecError) -> GeoPoint {
        var latitude = 0.0
        var longitude = 0.0
        while !reader.isAtEnd {
            let tag = try reader.tag()
            switch tag {
            case 1 << 3 | 1: latitude = Double(bitPattern: try reader.fixed64())
            case 2 << 3 | 1: longitude = Double(bitPattern: try reader.fixed64())
            default: try reader.skip(tag)
            }
        }
        guard GeoPoint.isValid(latitude: latitude, longitude: longitude) else { throw .outOfRange }
        return GeoPoint(latitude: latitude, longitude: longitude)
    }

    static func reference(_ name: String) throws(CodecError) -> ReferenceValue {
        do throws(InvalidPath) { return try ReferenceValue(name: name) } catch {
            throw .invalidReference(name)
        }
    }
}

// MARK: - Kinds that travel as maps

extension FieldsCodec {
    /// Returns the value that a map stands for. Only keys that begin with two underscores mark a
    /// special map, and they sort early, so the first keys rule out most maps.
    private static func special(_ fields: MapValue) -> Value {
        guard fields.count == 2 || fields.count == 3,
            case .string(let type)? = fields[SpecialMap.type]
        else { return .map(fields) }
        if type.hasSameBytes(as: SpecialMap.vector) { return vector(fields) ?? .map(fields) }
        if type.hasSameBytes(as: SpecialMap.serverTimestamp) {
            return pendingTimestamp(fields) ?? .map(fields)
        }
        return .map(fields)
    }

    private static func vector(_ fields: MapValue) -> Value? {
        guard fields.count == 2, case .array(let values)? = fields[SpecialMap.value] else {
            return nil
        }
        var components: [Double] = []
        components.reserveCapacity(values.count)
        for value in values {
            switch value {
            case .double(let component): components.append(component)
            case .integer(let component): components.append(Double(component))
            default: return nil
            }
        }
        return .vector(VectorValue(components))
    }

    private static func pendingTimestamp(_ fields: MapValue) -> Value? {
        guard case .timestamp(let time)? = fields[SpecialMap.localWriteTime] else { return nil }
        let previous = fields[SpecialMap.previousValue]
        // A map with further entries stays a map, because the special kind would lose them.
        guard fields.count == (previous == nil ? 2 : 3) else { return nil }
        return .pendingServerTimestamp(localWriteTime: time, previous: previous)
    }
}
