/// The protobuf form of values and fields, read and written directly from and to bytes.
///
/// Depth is bounded (``maxDepth``). Every input gives a value or a ``CodecError``. Output is
/// canonical: keys in byte order, no unknown fields.
public enum FieldsCodec {
    /// The deepest nesting that the codec accepts. Firestore allows 20 levels of maps and arrays;
    /// the codec accepts more, so a validator can name Firestore's limit in its error.
    public static let maxDepth = 100

    /// The field number of `fields` in `Document`.
    package static let documentFields: UInt64 = 2
    /// The field number of `fields` in `MapValue`.
    package static let mapFields: UInt64 = 1

    public static func encode(_ fields: MapValue) -> [UInt8] {
        var writer = WireWriter(capacity: 512)
        write(fields, as: documentFields, to: &writer)
        return writer.bytes
    }

    public static func decode(_ bytes: [UInt8]) throws(CodecError) -> MapValue {
        try read(bytes) { reader throws(CodecError) in
            try entries(&reader, field: documentFields, depth: 0)
        }
    }

    /// Encodes one value as a `Value` message.
    public static func encode(_ value: Value) -> [UInt8] {
        var writer = WireWriter()
        write(value, to: &writer)
        return writer.bytes
    }

    public static func decodeValue(_ bytes: [UInt8]) throws(CodecError) -> Value {
        try read(bytes) { reader throws(CodecError) in try value(&reader, depth: 0) }
    }

    /// Runs `body` on the bytes. A `Result` carries the typed error through the standard library's
    /// closure.
    static func read<T>(
        _ bytes: [UInt8], _ body: (inout WireReader) throws(CodecError) -> T
    ) throws(CodecError) -> T {
        let result: Result<T, CodecError> = bytes.withUnsafeBufferPointer { buffer in
            var reader = WireReader(buffer)
            do throws(CodecError) { return .success(try body(&reader)) } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}

// MARK: - Writing

extension FieldsCodec {
    private static func write(_ fields: MapValue, as field: UInt64, to writer: inout WireWriter) {
        for entry in fields.entries {
            writer.message(field) { writer in
                writer.text(1, entry.key)
                writer.message(2) { write(entry.value, to: &$0) }
            }
        }
    }

    private static func write(_ value: Value, to writer: inout WireWriter) {
        switch value {
        case .null:
            writer.tag(11, 0)
            writer.varint(0)
        case .boolean(let value):
            writer.tag(1, 0)
            writer.varint(value ? 1 : 0)
        case .integer(let value):
            writer.tag(2, 0)
            writer.varint(UInt64(bitPattern: value))
        case .double(let value):
            writer.tag(3, 1)
            // Every NaN gets the same bits, so values that are stored alike are encoded alike.
            writer.fixed64(value.isNaN ? Double.nan.bitPattern : value.bitPattern)
        case .timestamp(let value): writer.message(10) { write(value, to: &$0) }
        case .pendingServerTimestamp(let time, let previous):
            write(.map(pendingForm(time, previous)), to: &writer)
        case .string(let value): writer.text(17, value)
        case .bytes(let value): writer.data(18, value)
        case .reference(let value): writer.text(5, value.path.name(in: value.database))
        case .geoPoint(let value): writer.message(8) { write(value, to: &$0) }
        case .array(let values):
            writer.message(9) { writer in
                for value in values { writer.message(1) { write(value, to: &$0) } }
            }
        case .vector(let value): write(.map(vectorForm(value)), to: &writer)
        case .map(let fields): writer.message(6) { write(fields, as: mapFields, to: &$0) }
        }
    }

    /// Writes the body of a `google.protobuf.Timestamp`. Omits a part that is zero, as protobuf
    /// does.
    static func write(_ time: Timestamp, to writer: inout WireWriter) {
        if time.seconds != 0 {
            writer.tag(1, 0)
            writer.varint(UInt64(bitPattern: time.seconds))
        }
        if time.nanoseconds != 0 {
            writer.tag(2, 0)
            writer.varint(UInt64(time.nanoseconds))
        }
    }

    private static func write(_ point: GeoPoint, to writer: inout WireWriter) {
        for (field, part) in [(UInt64(1), point.latitude), (2, point.longitude)]
        where part.bitPattern != 0 {
            writer.tag(field, 1)
            writer.fixed64(part.bitPattern)
        }
    }

    /// The wire form of a vector: a map with a special `__type__`.
    private static func vectorForm(_ vector: VectorValue) -> MapValue {
        [
            SpecialMap.type: .string(SpecialMap.vector),
            SpecialMap.value: .array(vector.array.map(Value.double)),
        ]
    }

    /// The form in which a client keeps a server timestamp whose value it does not know yet.
    private static func pendingForm(_ time: Timestamp, _ previous: Value?) -> MapValue {
        var form: MapValue = [
            SpecialMap.type: .string(SpecialMap.serverTimestamp),
            SpecialMap.localWriteTime: .timestamp(time),
        ]
        form[SpecialMap.previousValue] = previous
        return form
    }
}

/// The keys and type names of the kinds whose wire form is a map.
enum SpecialMap {
    static let type = "__type__"
    static let vector = "__vector__"
    static let value = "value"
    static let serverTimestamp = "server_timestamp"
    static let localWriteTime = "__local_write_time__"
    static let previousValue = "__previous_value__"
}
