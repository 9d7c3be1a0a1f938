import TidemarkModel

/// The durable form of mutations. It is append only, as the schema is: a used number keeps its
/// meaning.
enum MutationCodec {
    private static let edition: UInt8 = 1
    static let what = "pending write"
    /// The form of no mutations.
    static let none: [UInt8] = encode([])
    /// The room for everything in a mutation without transforms except its path and its contents;
    /// it is never too small.
    private static let roomForRest = 32

    /// - Parameter contents: The ``Mutation/plainContents`` of the only mutation, if they are
    ///   known.
    static func encode(_ mutations: [Mutation], _ contents: EncodedFields? = nil) -> [UInt8] {
        var room = 0
        if let contents, let path = mutations.first?.path {
            room = contents.bytes.count + path.text.utf8.count + roomForRest
        }
        var writer = WireWriter(capacity: room)
        writer.byte(edition)
        writer.count(mutations.count)
        for mutation in mutations { write(mutation, contents: contents, writer: &writer) }
        return writer.bytes
    }

    /// - Throws: ``DamagedRecord`` if ``encode(_:_:)`` did not write the bytes.
    static func decode(_ bytes: [UInt8]) throws(DamagedRecord) -> [Mutation] {
        try bytes.withUnsafeBufferPointer { buffer throws(DamagedRecord) in
            var result: [Mutation] = []
            try visit(buffer, fields: fields) { result.append($0) }
            return result
        }
    }

    /// Returns the paths of the mutations, each once; nil for no mutations. The fields are checked
    /// and not built.
    ///
    /// - Throws: ``DamagedRecord`` in the same cases as ``decode(_:)``.
    static func paths(
        _ bytes: UnsafeBufferPointer<UInt8>
    ) throws(DamagedRecord) -> WaitingBatch.Paths? {
        if bytes.elementsEqual(none) { return nil }
        var first: DocumentPath?
        var later: [DocumentPath] = []
        try visit(bytes, fields: checkedFields) { mutation in
            if first == nil { first = mutation.path } else { later.append(mutation.path) }
        }
        return first.map { later.isEmpty ? .one($0) : WaitingBatch.Paths([$0] + later) }
    }

    private typealias FieldsRead = (inout WireReader) throws(CodecError) -> MapValue

    private static func visit(
        _ bytes: UnsafeBufferPointer<UInt8>, fields: FieldsRead, _ body: (Mutation) -> Void
    ) throws(DamagedRecord) {
        var reader = WireReader(bytes)
        do throws(CodecError) { try visit(&reader, fields, body) } catch {
            throw DamagedRecord(what: what)
        }
    }

    private static func visit(
        _ reader: inout WireReader, _ fields: FieldsRead, _ body: (Mutation) -> Void
    ) throws(CodecError) {
        guard try reader.byte() == edition else { throw .malformed }
        for _ in 0..<(try reader.count()) { body(try mutation(&reader, fields)) }
        guard reader.isAtEnd else { throw .malformed }
    }
}

// MARK: - Writing

extension MutationCodec {
    private static func write(
        _ mutation: Mutation, contents: EncodedFields?, writer: inout WireWriter
    ) {
        writer.text(mutation.path.text)
        switch mutation.operation {
        case .set(let fields):
            writer.byte(0)
            writer.data(contents?.bytes ?? FieldsCodec.encode(fields))
        case .patch(let fields, let mask):
            writer.byte(1)
            writer.data(FieldsCodec.encode(fields))
            writer.count(mask.count)
            for path in mask { write(path, &writer) }
        case .delete: writer.byte(2)
        case .verify: writer.byte(3)
        }
        write(mutation.precondition, &writer)
        writer.count(mutation.transforms.count)
        for transform in mutation.transforms {
            write(transform.field, &writer)
            write(transform.operation, &writer)
        }
    }

    private static func write(_ path: FieldPath, _ writer: inout WireWriter) {
        writer.count(path.segments.count)
        for segment in path.segments { writer.text(segment) }
    }

    private static func write(_ precondition: Precondition, _ writer: inout WireWriter) {
        switch precondition {
        case .none: writer.byte(0)
        case .exists(let exists): writer.byte(exists ? 1 : 2)
        case .updateTime(let time):
            writer.byte(3)
            writer.fixed64(UInt64(bitPattern: time.seconds))
            writer.fixed64(UInt64(bitPattern: Int64(time.nanoseconds)))
        }
    }

    private static func write(
        _ operation: FieldTransform.Operation, _ writer: inout WireWriter
    ) {
        let (kind, operand): (UInt8, Value) =
            switch operation {
            case .serverTimestamp: (0, .null)
            case .increment(let value): (1, value)
            case .maximum(let value): (2, value)
            case .minimum(let value): (3, value)
            case .arrayUnion(let values): (4, .array(values))
            case .arrayRemove(let values): (5, .array(values))
            }
        writer.byte(kind)
        writer.data(FieldsCodec.encode(operand))
    }
}

// MARK: - Reading

extension MutationCodec {
    private static func mutation(
        _ reader: inout WireReader, _ fields: FieldsRead
    ) throws(CodecError) -> Mutation {
        let path = DocumentPath(unchecked: try reader.text())
        let operation: Mutation.Operation
        switch try reader.byte() {
        case 0: operation = .set(try fields(&reader))
        case 1:
            let fields = try fields(&reader)
            var mask: [FieldPath] = []
            for _ in 0..<(try reader.count()) { mask.append(try fieldPath(&reader)) }
            operation = .patch(fields, mask: mask)
        case 2: operation = .delete
        case 3: operation = .verify
        default: throw .malformed
        }
        let precondition = try precondition(&reader)
        var transforms: [FieldTransform] = []
        for _ in 0..<(try reader.count()) {
            transforms.append(FieldTransform(try fieldPath(&reader), try transform(&reader)))
        }
        return Mutation(
            path: path, operation, transforms: transforms, precondition: precondition)
    }

    private static func fieldPath(_ reader: inout WireReader) throws(CodecError) -> FieldPath {
        var segments: [String] = []
        for _ in 0..<(try reader.count()) { segments.append(try reader.text()) }
        if segments.isEmpty { throw .malformed }
        return FieldPath(unchecked: segments)
    }

    private static func fields(_ reader: inout WireReader) throws(CodecError) -> MapValue {
        let bytes = try reader.lengthDelimited()
        return try FieldsCodec.decode(Array(bytes))
    }

    private static func checkedFields(
        _ reader: inout WireReader
    ) throws(CodecError) -> MapValue {
        try FieldsCodec.check(try reader.lengthDelimited())
        return MapValue()
    }

    private static func precondition(
        _ reader: inout WireReader
    ) throws(CodecError) -> Precondition {
        switch try reader.byte() {
        case 0: return .none
        case 1: return .exists(true)
        case 2: return .exists(false)
        case 3:
            let seconds = Int64(bitPattern: try reader.fixed64())
            let nanoseconds = Int64(bitPattern: try reader.fixed64())
            guard let fraction = Int32(exactly: nanoseconds),
                Timestamp.isValid(seconds: seconds, nanoseconds: fraction)
            else { throw .malformed }
            return .updateTime(Timestamp(seconds: seconds, nanoseconds: fraction))
        default: throw .malformed
        }
    }

    private static func transform(
        _ reader: inout WireReader
    ) throws(CodecError) -> FieldTransform.Operation {
        let kind = try reader.byte()
        let bytes = try reader.lengthDelimited()
        let operand = try FieldsCodec.decodeValue(Array(bytes))
        switch (kind, operand) {
        case (0, _): return .serverTimestamp
        case (1, _): return .increment(operand)
        case (2, _): return .maximum(operand)
        case (3, _): return .minimum(operand)
        case (4, .array(let values)): return .arrayUnion(values)
        case (5, .array(let values)): return .arrayRemove(values)
        default: throw .malformed
        }
    }
}

extension WireWriter {
    fileprivate mutating func count(_ value: Int) { varint(UInt64(value)) }
}

extension WireReader {
    /// Returns a count, never larger than the number of remaining bytes, because each counted thing
    /// takes at least one byte.
    fileprivate mutating func count() throws(CodecError) -> Int {
        let count = try varint()
        guard count <= UInt64(rest.count) else { throw .truncated }
        return Int(count)
    }
}
