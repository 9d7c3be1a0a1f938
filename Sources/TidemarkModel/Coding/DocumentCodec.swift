/// A document in its wire form: the absolute name, and the fields still encoded.
package struct WireDocument: Hashable, Sendable {
    package var name: String
    package var contents: EncodedFields
    /// The creation time; nil if only a name was sent, and in documents sent to the server.
    package var createTime: Timestamp?
    package var updateTime: Timestamp?

    package init(
        name: String, contents: EncodedFields, createTime: Timestamp? = nil,
        updateTime: Timestamp? = nil
    ) {
        self.name = name
        self.contents = contents
        self.createTime = createTime
        self.updateTime = updateTime
    }
}

/// The protobuf form of `Document`, `ArrayValue` and `Timestamp`. Encoded fields pass through
/// unchanged; decoding checks them once.
package enum DocumentCodec {
    /// Copies the encoded fields without decoding them. Omits an empty name.
    package static func encode(_ document: WireDocument) -> [UInt8] {
        var name = WireWriter()
        // A row of a pipeline can have no name.
        if !document.name.isEmpty { name.text(1, document.name) }
        var times = WireWriter()
        if let time = document.createTime { times.message(3) { FieldsCodec.write(time, to: &$0) } }
        if let time = document.updateTime { times.message(4) { FieldsCodec.write(time, to: &$0) } }
        var result: [UInt8] = []
        result.reserveCapacity(
            name.bytes.count + document.contents.bytes.count + times.bytes.count)
        result += name.bytes
        result += document.contents.bytes
        result += times.bytes
        return result
    }

    package static func decode(_ bytes: UnsafeRawBufferPointer) throws(CodecError) -> WireDocument {
        var reader = WireReader(bytes.assumingMemoryBound(to: UInt8.self))
        var result = WireDocument(name: "", contents: .empty)
        var fields: [UInt8] = []
        fields.reserveCapacity(bytes.count)
        while !reader.isAtEnd {
            let tag = try reader.tag()
            switch tag {
            case 1 << 3 | 2: result.name = try reader.text()
            case 2 << 3 | 2: append(entry: try reader.lengthDelimited(), to: &fields)
            case 3 << 3 | 2:
                var time = try reader.message()
                result.createTime = try FieldsCodec.timestamp(&time)
            case 4 << 3 | 2:
                var time = try reader.message()
                result.updateTime = try FieldsCodec.timestamp(&time)
            default: try reader.skip(tag)
            }
        }
        result.contents = try EncodedFields(validating: fields)
        return result
    }

    /// Decodes a document sent to the server. Returns its name and its decoded fields, and ignores
    /// its times.
    package static func decodeFields(
        _ bytes: UnsafeRawBufferPointer
    ) throws(CodecError) -> (name: String, fields: MapValue) {
        let bytes = bytes.assumingMemoryBound(to: UInt8.self)
        var name = ""
        var reader = WireReader(bytes)
        while !reader.isAtEnd {
            let tag = try reader.tag()
            if tag == 1 << 3 | 2 { name = try reader.text() } else { try reader.skip(tag) }
        }
        reader = WireReader(bytes)
        return (name, try FieldsCodec.entries(&reader, field: 2, depth: 0))
    }

    package static func encode(_ values: [Value]) -> [UInt8] {
        var writer = WireWriter()
        for value in values { writer.data(1, FieldsCodec.encode(value)) }
        return writer.bytes
    }

    package static func decodeArray(_ bytes: [UInt8]) throws(CodecError) -> [Value] {
        try FieldsCodec.read(bytes) { reader throws(CodecError) in
            try FieldsCodec.array(&reader, depth: 0)
        }
    }

    /// Appends an entry with its tag and length, the form that ``EncodedFields`` holds.
    private static func append(entry: UnsafeBufferPointer<UInt8>, to fields: inout [UInt8]) {
        fields.append(2 << 3 | 2)
        var length = entry.count
        while length >= 0x80 {
            fields.append(UInt8(truncatingIfNeeded: length) | 0x80)
            length >>= 7
        }
        fields.append(UInt8(length))
        fields.append(contentsOf: entry)
    }
}
