/// The protobuf form of values and fields, read and written straight from and to bytes.
///
/// Bounded (``maxDepth``), total (every input gives a value or a ``CodecError``) and canonical on the
/// way out: keys in byte order, no unknown fields.
public enum FieldsCodec {
    /// Firestore allows 20 levels of maps and arrays; the codec a few more, so that a validator can
    /// name the limit.
    public static let maxDepth = 100

    /// Field number of `fields` in `Document`.
    private static let documentFields = 2
    /// Field number of `fields` in `MapValue`.
    private static let mapFields = 1

    public static func encode(_ fields: MapValue) -> [UInt8] {
        var writer = WireWriter()
        write(fields, as: documentFields, to: &writer)
        return writer.bytes
    }

    public static func decode(_ bytes: [UInt8]) throws(CodecError) -> MapValue {
        try read(bytes) { reader throws(CodecError) in
            try entries(&reader, field: documentFields, depth: 0)
        }
    }

    /// One value as a message `Value`.
    public static func encode(_ value: Value) -> [UInt8] {
        var writer = WireWriter()
        write(value, to: &writer)
        return writer.bytes
    }

    public static func decodeValue(_ bytes: [UInt8]) throws(CodecError) -> Value {
        try read(bytes) { reader throws(CodecError) in try value(&reader, depth: 0) }
    }

    /// `Result` carries the typed error through the closure of the standard library.
    private static func read<T>(
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
    private static func write(_ fields: MapValue, as field: Int, to writer: inout WireWriter) {
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
            writer.fixed64(value.bitPattern)
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

    /// The body of a `google.protobuf.Timestamp`; a part that is zero is left out, as protobuf does.
    private static func write(_ time: Timestamp, to writer: inout WireWriter) {
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
        for (field, part) in [(1, point.latitude), (2, point.longitude)]
        where part.bitPattern != 0 {
            writer.tag(field, 1)
            writer.fixed64(part.bitPattern)
        }
    }

    /// On the wire a vector is a map that says so.
    private static func vectorForm(_ vector: VectorValue) -> MapValue {
        ["__type__": .string("__vector__"), "value": .array(vector.array.map(Value.double))]
    }

    /// The form in which a client keeps a server timestamp it has not been told.
    private static func pendingForm(_ time: Timestamp, _ previous: Value?) -> MapValue {
        var form: MapValue = [
            "__type__": .string("server_timestamp"), "__local_write_time__": .timestamp(time),
        ]
        form["__previous_value__"] = previous
        return form
    }
}

// MARK: - Reading

extension FieldsCodec {
    /// Every entry of a map whose entries are field `field` of the message; other fields are skipped.
    private static func entries(
        _ reader: inout WireReader, field: Int, depth: Int
    ) throws(CodecError) -> MapValue {
        if depth > maxDepth { throw .tooDeep }
        var result = MapValue()
        while !reader.isAtEnd {
            let tag = try reader.tag()
            guard tag.field == field, tag.wireType == 2 else {
                try reader.skip(wireType: tag.wireType)
                continue
            }
            var entry = try reader.message()
            let (key, value) = try mapEntry(&entry, depth: depth)
            result[key] = value
        }
        return result
    }

    private static func mapEntry(
        _ reader: inout WireReader, depth: Int
    ) throws(CodecError) -> (String, Value) {
        var key = ""
        var found: Value?
        while !reader.isAtEnd {
            let tag = try reader.tag()
            switch (tag.field, tag.wireType) {
            case (1, 2): key = try reader.text()
            case (2, 2):
                var inner = try reader.message()
                found = try value(&inner, depth: depth)
            default: try reader.skip(wireType: tag.wireType)
            }
        }
        guard let found else { throw .noKind }
        return (key, found)
    }

    private static func value(_ reader: inout WireReader, depth: Int) throws(CodecError) -> Value {
        var result: Value?
        while !reader.isAtEnd {
            let tag = try reader.tag()
            switch (tag.field, tag.wireType) {
            case (11, 0):
                _ = try reader.varint()
                result = .null
            case (1, 0): result = .boolean(try reader.varint() != 0)
            case (2, 0): result = .integer(Int64(bitPattern: try reader.varint()))
            case (3, 1): result = .double(Double(bitPattern: try reader.fixed64()))
            case (10, 2):
                var inner = try reader.message()
                result = .timestamp(try timestamp(&inner))
            case (17, 2): result = .string(try reader.text())
            case (18, 2): result = .bytes(Array(try reader.lengthDelimited()))
            case (5, 2): result = .reference(try reference(try reader.text()))
            case (8, 2):
                var inner = try reader.message()
                result = .geoPoint(try geoPoint(&inner))
            case (9, 2):
                var inner = try reader.message()
                result = .array(try array(&inner, depth: depth + 1))
            case (6, 2):
                var inner = try reader.message()
                result = special(try entries(&inner, field: mapFields, depth: depth + 1))
            case (19, _), (20, _), (21, _), (22, _): throw .unsupportedKind(field: tag.field)
            default: try reader.skip(wireType: tag.wireType)
            }
        }
        guard let result else { throw .noKind }
        return result
    }

    private static func array(_ reader: inout WireReader, depth: Int) throws(CodecError) -> [Value]
    {
        if depth > maxDepth { throw .tooDeep }
        var result: [Value] = []
        while !reader.isAtEnd {
            let tag = try reader.tag()
            guard tag.field == 1, tag.wireType == 2 else {
                try reader.skip(wireType: tag.wireType)
                continue
            }
            var inner = try reader.message()
            result.append(try value(&inner, depth: depth))
        }
        return result
    }

    private static func timestamp(_ reader: inout WireReader) throws(CodecError) -> Timestamp {
        var seconds: Int64 = 0
        var nanoseconds: Int64 = 0
        while !reader.isAtEnd {
            let tag = try reader.tag()
            switch (tag.field, tag.wireType) {
            case (1, 0): seconds = Int64(bitPattern: try reader.varint())
            case (2, 0): nanoseconds = Int64(bitPattern: try reader.varint())
            default: try reader.skip(wireType: tag.wireType)
            }
        }
        guard let fraction = Int32(exactly: nanoseconds),
            Timestamp.isValid(seconds: seconds, nanoseconds: fraction)
        else { throw .outOfRange }
        return Timestamp(seconds: seconds, nanoseconds: fraction)
    }

    private static func geoPoint(_ reader: inout WireReader) throws(CodecError) -> GeoPoint {
        var latitude = 0.0
        var longitude = 0.0
        while !reader.isAtEnd {
            let tag = try reader.tag()
            switch (tag.field, tag.wireType) {
            case (1, 1): latitude = Double(bitPattern: try reader.fixed64())
            case (2, 1): longitude = Double(bitPattern: try reader.fixed64())
            default: try reader.skip(wireType: tag.wireType)
            }
        }
        guard GeoPoint.isValid(latitude: latitude, longitude: longitude) else { throw .outOfRange }
        return GeoPoint(latitude: latitude, longitude: longitude)
    }

    private static func reference(_ name: String) throws(CodecError) -> ReferenceValue {
        do throws(InvalidPath) { return try ReferenceValue(name: name) } catch {
            throw .invalidReference(name)
        }
    }

    /// The kinds that travel as maps with a `__type__`.
    private static func special(_ fields: MapValue) -> Value {
        guard case .string(let type)? = fields["__type__"] else { return .map(fields) }
        switch type {
        case "__vector__":
            guard fields.count == 2, case .array(let values)? = fields["value"],
                let components = doubles(values)
            else { return .map(fields) }
            return .vector(VectorValue(components))
        case "server_timestamp":
            guard case .timestamp(let time)? = fields["__local_write_time__"] else {
                return .map(fields)
            }
            return .pendingServerTimestamp(
                localWriteTime: time, previous: fields["__previous_value__"])
        default: return .map(fields)
        }
    }

    /// Nil when one is no number.
    private static func doubles(_ values: [Value]) -> [Double]? {
        var result: [Double] = []
        result.reserveCapacity(values.count)
        for value in values {
            switch value {
            case .double(let component): result.append(component)
            case .integer(let component): result.append(Double(component))
            default: return nil
            }
        }
        return result
    }
}
