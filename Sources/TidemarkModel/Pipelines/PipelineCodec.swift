/// Reads the protobuf form of pipelines. The layouts are in `Proto/google/firestore/v1`:
/// `pipeline.proto` and `document.proto`.
package enum PipelineCodec {
    /// The deepest nesting of values, functions and pipelines that the codec accepts. A validator
    /// has its own, smaller limit.
    package static let maxDepth = 200

    /// The field numbers of the kinds that `Value` has for pipelines alone.
    enum Kind {
        static let field: UInt64 = 19
        static let function: UInt64 = 20
        static let pipeline: UInt64 = 21
        static let variable: UInt64 = 22
    }

    /// Reads a `Pipeline` message.
    package static func decode(_ bytes: [UInt8]) throws(CodecError) -> Pipeline {
        try FieldsCodec.read(bytes) { reader throws(CodecError) in
            try pipeline(&reader, depth: 0)
        }
    }

    static func pipeline(
        _ reader: inout WireReader, depth: Int
    ) throws(CodecError) -> Pipeline {
        var stages: [Pipeline.Stage] = []
        while !reader.isAtEnd {
            let tag = try reader.tag()
            guard tag == 1 << 3 | 2 else {
                try reader.skip(tag)
                continue
            }
            var inner = try reader.message()
            let call = try call(&inner, depth: depth)
            stages.append(
                Pipeline.Stage(name: call.name, arguments: call.arguments, options: call.options))
        }
        return Pipeline(stages: stages)
    }

    private typealias Call = (
        name: String, arguments: [Pipeline.Expression], options: [Pipeline.Entry]
    )

    /// Reads a stage or a function, which have the same layout.
    private static func call(_ reader: inout WireReader, depth: Int) throws(CodecError) -> Call {
        var result: Call = ("", [], [])
        result.arguments.reserveCapacity(min(reader.countOfMessages(tagged: 2 << 3 | 2), 64))
        while !reader.isAtEnd {
            let tag = try reader.tag()
            switch tag {
            case 1 << 3 | 2: result.name = try reader.text()
            case 2 << 3 | 2:
                var inner = try reader.message()
                result.arguments.append(try expression(&inner, depth: depth))
            case 3 << 3 | 2: result.options.append(try entry(&reader, depth: depth))
            default: try reader.skip(tag)
            }
        }
        result.options = unique(result.options)
        return result
    }

    /// Reads an entry of a map, whose tag was read last.
    static func entry(
        _ reader: inout WireReader, depth: Int
    ) throws(CodecError) -> Pipeline.Entry {
        var pair = try reader.message()
        var key = ""
        var value: Pipeline.Expression?
        while !pair.isAtEnd {
            let tag = try pair.tag()
            switch tag {
            case 1 << 3 | 2: key = try pair.text()
            case 2 << 3 | 2:
                var inner = try pair.message()
                value = try expression(&inner, depth: depth)
            default: try pair.skip(tag)
            }
        }
        guard let value else { throw .noKind }
        return Pipeline.Entry(key: key, value: value)
    }

    /// Drops all but the last of the entries with the same key, as protobuf's maps do.
    static func unique(
        _ entries: [Pipeline.Entry]
    ) -> [Pipeline.Entry] {
        if entries.count < 2 { return entries }
        var seen: Set<ByteString> = []
        let kept = entries.reversed().filter { seen.insert(ByteString($0.key)).inserted }
        return kept.count == entries.count ? entries : kept.reversed()
    }

    /// Reads a `Value` message. When the message sets several kinds, the last one counts.
    private static func expression(
        _ reader: inout WireReader, depth: Int
    ) throws(CodecError) -> Pipeline.Expression {
        if depth > maxDepth { throw .tooDeep }
        var result: Pipeline.Expression?
        while !reader.isAtEnd {
            let tag = try reader.tag()
            switch tag {
            case 5 << 3 | 2: result = .reference(try reader.text())
            case Kind.field << 3 | 2: result = .field(try reader.text())
            case Kind.variable << 3 | 2: result = .variable(try reader.text())
            case Kind.function << 3 | 2, Kind.pipeline << 3 | 2, 9 << 3 | 2, 6 << 3 | 2:
                var inner = try reader.message()
                result = try nested(&inner, tag: tag, depth: depth + 1)
            default: result = try scalar(tag, &reader) ?? result
            }
        }
        guard let result else { throw .noKind }
        return result
    }

    private static func nested(
        _ reader: inout WireReader, tag: UInt64, depth: Int
    ) throws(CodecError) -> Pipeline.Expression {
        switch tag >> 3 {
        case Kind.function:
            let call = try call(&reader, depth: depth)
            return .function(name: call.name, arguments: call.arguments, options: call.options)
        case Kind.pipeline: return .pipeline(try pipeline(&reader, depth: depth))
        case 9: return .array(try array(&reader, depth: depth))
        default: return .map(try map(&reader, depth: depth))
        }
    }

    private static func array(
        _ reader: inout WireReader, depth: Int
    ) throws(CodecError) -> [Pipeline.Expression] {
        var result: [Pipeline.Expression] = []
        result.reserveCapacity(reader.countOfMessages(tagged: 1 << 3 | 2))
        while !reader.isAtEnd {
            let tag = try reader.tag()
            guard tag == 1 << 3 | 2 else {
                try reader.skip(tag)
                continue
            }
            var inner = try reader.message()
            result.append(try expression(&inner, depth: depth))
        }
        return result
    }

    private static func map(
        _ reader: inout WireReader, depth: Int
    ) throws(CodecError) -> [Pipeline.Entry] {
        var result: [Pipeline.Entry] = []
        while !reader.isAtEnd {
            let tag = try reader.tag()
            guard tag == 1 << 3 | 2 else {
                try reader.skip(tag)
                continue
            }
            result.append(try entry(&reader, depth: depth))
        }
        return unique(result)
    }

    /// Returns a value without parts; nil for an unknown field, which is skipped.
    private static func scalar(
        _ tag: UInt64, _ reader: inout WireReader
    ) throws(CodecError) -> Pipeline.Expression? {
        switch tag {
        case 17 << 3 | 2: return .constant(.string(try reader.text()))
        case 2 << 3 | 0: return .constant(.integer(Int64(bitPattern: try reader.varint())))
        case 1 << 3 | 0: return .constant(.boolean(try reader.varint() != 0))
        case 3 << 3 | 1: return .constant(.double(Double(bitPattern: try reader.fixed64())))
        case 11 << 3 | 0:
            _ = try reader.varint()
            return .constant(.null)
        case 18 << 3 | 2: return .constant(.bytes(Array(try reader.lengthDelimited())))
        case 10 << 3 | 2:
            var inner = try reader.message()
            return .constant(.timestamp(try FieldsCodec.timestamp(&inner)))
        case 8 << 3 | 2:
            var inner = try reader.message()
            return .constant(.geoPoint(try FieldsCodec.geoPoint(&inner)))
        default:
            try reader.skip(tag)
            return nil
        }
    }
}
