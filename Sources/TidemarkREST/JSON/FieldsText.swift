import Foundation
import TidemarkModel

// Writes a document's fields in protobuf's JSON directly from the stored bytes, without a tree.
// ``ProtoJSONWriter`` produces the same text with its tables: a test compares the two.

extension JSONText {
    /// Writes an object from names to values. Bytes from a damaged disk count as no fields, as in
    /// decoding.
    mutating func write(_ fields: EncodedFields) {
        let start = (count: bytes.count, depth: depth)
        let isWhole = fields.bytes.withUnsafeBufferPointer { buffer in
            do throws(CodecError) {
                try write(entries: WireReader(buffer), field: FieldsCodec.documentFields)
                return true
            } catch { return false }
        }
        if isWhole { return }
        restore(count: start.count, depth: start.depth)
        put("{}")
    }

    /// Writes the entries, each with a key and a value, in the order of the keys.
    private mutating func write(entries: WireReader, field: UInt64) throws(CodecError) {
        var reader = entries
        var isEmpty = true
        open("{")
        while !reader.isAtEnd {
            guard try reader.tag() == field << 3 | 2 else { throw .malformed }
            var entry = try reader.message()
            guard try entry.tag() == 1 << 3 | 2 else { throw .malformed }
            begin(isFirst: isEmpty)
            isEmpty = false
            name(try entry.lengthDelimited())
            guard try entry.tag() == 2 << 3 | 2 else { throw .malformed }
            try write(value: try entry.message())
        }
        close("}", isEmpty: isEmpty)
    }

    /// Writes an object with a single member, whose name states the kind.
    private mutating func write(value: WireReader) throws(CodecError) {
        // There are three groups for each level of values.
        guard depth < 4 * FieldsCodec.maxDepth else { throw .tooDeep }
        var reader = value
        open("{")
        begin(isFirst: true)
        switch try reader.tag() {
        case 17 << 3 | 2: name("stringValue"); quote(try reader.lengthDelimited())
        case 2 << 3 | 0:
            name("integerValue")
            put("\"")
            add(Int64(bitPattern: try reader.varint()).description)
            put("\"")
        case 1 << 3 | 0: name("booleanValue"); write(try reader.varint() != 0)
        case 3 << 3 | 1:
            name("doubleValue")
            write(Double(bitPattern: try reader.fixed64()))
        case 10 << 3 | 2:
            name("timestampValue")
            var time = try reader.message()
            quote(try FieldsCodec.timestamp(&time).rfc3339)
        case 11 << 3 | 0: name("nullValue"); _ = try reader.varint(); put("null")
        case 18 << 3 | 2:
            name("bytesValue")
            quote(Data(try reader.lengthDelimited()).base64EncodedString())
        case 5 << 3 | 2: name("referenceValue"); quote(try reader.lengthDelimited())
        case 8 << 3 | 2: name("geoPointValue"); try write(place: try reader.message())
        case 9 << 3 | 2: name("arrayValue"); try write(array: try reader.message())
        case 6 << 3 | 2: name("mapValue"); try write(map: try reader.message())
        default: throw .malformed
        }
        guard reader.isAtEnd else { throw .malformed }
        close("}", isEmpty: false)
    }

    /// Writes a place. A zero part is omitted, as in the bytes.
    private mutating func write(place: WireReader) throws(CodecError) {
        var reader = place
        var isEmpty = true
        open("{")
        while !reader.isAtEnd {
            let tag = try reader.tag()
            guard tag == 1 << 3 | 1 || tag == 2 << 3 | 1 else { throw .malformed }
            begin(isFirst: isEmpty)
            isEmpty = false
            name(tag >> 3 == 1 ? "latitude" : "longitude")
            write(Double(bitPattern: try reader.fixed64()))
        }
        close("}", isEmpty: isEmpty)
    }

    private mutating func write(array: WireReader) throws(CodecError) {
        var reader = array
        if reader.isAtEnd { return put("{}") }
        var isEmpty = true
        open("{")
        begin(isFirst: true)
        name("values")
        open("[")
        while !reader.isAtEnd {
            guard try reader.tag() == 1 << 3 | 2 else { throw .malformed }
            begin(isFirst: isEmpty)
            isEmpty = false
            try write(value: try reader.message())
        }
        close("]", isEmpty: false)
        close("}", isEmpty: false)
    }

    private mutating func write(map: WireReader) throws(CodecError) {
        if map.isAtEnd { return put("{}") }
        open("{")
        begin(isFirst: true)
        name("fields")
        try write(entries: map, field: FieldsCodec.mapFields)
        close("}", isEmpty: false)
    }
}
