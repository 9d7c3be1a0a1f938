import Foundation
import TidemarkModel

/// Converts a message's bytes to protobuf's JSON.
enum ProtoJSONWriter {
    /// - Parameter bytes: A message that this server has written.
    static func json(_ type: MessageType, _ bytes: [UInt8]) -> JSONOutput {
        let result = bytes.withUnsafeBufferPointer { buffer in
            Result { () throws(CodecError) in
                try object(MessageSchema.of(type), WireReader(buffer))
            }
        }
        guard case .success(let json) = result else {
            preconditionFailure("a message of our own making could not be read")
        }
        return json
    }

    /// The contents of a message for a field.
    private struct Slot {
        let field: FieldSchema
        var elements: [JSONOutput] = []
        var entries: [JSONOutput.Member] = []
        /// The entries of a document's fields, which stay encoded.
        var fields: [UInt8] = []

        var json: JSONOutput {
            if !fields.isEmpty { return .fields(EncodedFields(trusted: fields)) }
            return switch field.kind {
            case .map, .textMap: .object(entries)
            default: field.isRepeated ? .list(elements) : elements.last ?? .null
            }
        }
    }

    private static func object(
        _ schema: MessageSchema, _ message: WireReader
    ) throws(CodecError) -> JSONOutput {
        var reader = message
        var slots: [Slot] = []
        while !reader.isAtEnd {
            let start = reader.rest
            let tag = try reader.tag()
            guard let field = schema.field(numbered: tag >> 3) else {
                try reader.skip(tag)
                continue
            }
            let index: Int
            if let known = slots.firstIndex(where: { $0.field.number == field.number }) {
                index = known
            } else {
                index = slots.count
                slots.append(Slot(field: field))
            }
            if field.isOfDocument {
                try reader.skip(tag)
                slots[index].fields += start.prefix(start.count - reader.rest.count)
            } else {
                try take(&slots[index], tag: tag, reader: &reader)
            }
        }
        return .object(slots.map { .init($0.field.jsonName, $0.json) })
    }

    private static func take(
        _ slot: inout Slot, tag: UInt64, reader: inout WireReader
    ) throws(CodecError) {
        switch slot.field.kind {
        case .map(let type):
            let (key, value) = try entry(&reader)
            slot.entries.append(.init(key, try object(MessageSchema.of(type), value)))
        case .textMap:
            let (key, value) = try entry(&reader)
            slot.entries.append(.init(key, .text(try WireReader.text(value.rest))))
        case .int32, .enumeration:
            guard tag & 7 == 2 else {
                slot.elements.append(try element(slot.field.kind, &reader))
                return
            }
            // The numbers are packed.
            var numbers = try reader.message()
            while !numbers.isAtEnd {
                slot.elements.append(try element(slot.field.kind, &numbers))
            }
        default: slot.elements.append(try element(slot.field.kind, &reader))
        }
    }

    private static func entry(
        _ reader: inout WireReader
    ) throws(CodecError) -> (key: String, value: WireReader) {
        var pair = try reader.message()
        var key = ""
        var value = WireReader(UnsafeBufferPointer(start: nil, count: 0))
        while !pair.isAtEnd {
            let tag = try pair.tag()
            switch tag >> 3 {
            case 1: key = try pair.text()
            case 2: value = try pair.message()
            default: try pair.skip(tag)
            }
        }
        return (key, value)
    }

    private static func element(
        _ kind: FieldKind, _ reader: inout WireReader
    ) throws(CodecError) -> JSONOutput {
        switch kind {
        case .text: return .text(try reader.text())
        case .bytes: return .text(Data(try reader.lengthDelimited()).base64EncodedString())
        case .bool: return .bool(try reader.varint() != 0)
        case .int32: return .integer(try signed(&reader))
        case .int64: return .text(String(try signed(&reader)))
        case .double: return double(Double(bitPattern: try reader.fixed64()))
        case .enumeration(let type): return try name(of: type, &reader)
        case .null:
            _ = try reader.varint()
            return .null
        case .message(let type): return try object(MessageSchema.of(type), try reader.message())
        case .timestamp: return try time(try reader.message())
        case .duration: return try duration(try reader.message())
        case .wrapped(let inner): return try wrapped(inner, try reader.message())
        case .any: return try any(try reader.message())
        case .structure: return try structure(try reader.message())
        case .map, .textMap: throw .malformed
        }
    }

    private static func signed(_ reader: inout WireReader) throws(CodecError) -> Int64 {
        Int64(bitPattern: try reader.varint())
    }

    private static func double(_ value: Double) -> JSONOutput {
        NumberText.name(of: value).map { .text($0) } ?? .number(value)
    }

    private static func name(
        of type: EnumType, _ reader: inout WireReader
    ) throws(CodecError) -> JSONOutput {
        let number = try signed(&reader)
        return Int32(exactly: number).flatMap(type.schema.name).map { .text($0) }
            ?? .integer(number)
    }
}

// MARK: - Messages with a special form

extension ProtoJSONWriter {
    private static func seconds(
        _ message: WireReader
    ) throws(CodecError) -> (seconds: Int64, nanoseconds: Int32) {
        var reader = message
        var seconds: Int64 = 0
        var nanoseconds: Int64 = 0
        while !reader.isAtEnd {
            let tag = try reader.tag()
            switch tag >> 3 {
            case 1: seconds = try signed(&reader)
            case 2: nanoseconds = try signed(&reader)
            default: try reader.skip(tag)
            }
        }
        return (seconds, Int32(clamping: nanoseconds))
    }

    private static func time(_ message: WireReader) throws(CodecError) -> JSONOutput {
        let (seconds, nanoseconds) = try seconds(message)
        guard Timestamp.isValid(seconds: seconds, nanoseconds: nanoseconds) else {
            throw .outOfRange
        }
        return .text(Timestamp(seconds: seconds, nanoseconds: nanoseconds).rfc3339)
    }

    /// Returns a duration, as in `0.001200s`.
    private static func duration(_ message: WireReader) throws(CodecError) -> JSONOutput {
        let (seconds, nanoseconds) = try seconds(message)
        if nanoseconds == 0 { return .text("\(seconds)s") }
        let digits = String(1_000_000_000 + Int64(nanoseconds.magnitude)).dropFirst()
        let sign = seconds == 0 && nanoseconds < 0 ? "-" : ""
        return .text("\(sign)\(seconds).\(digits)s")
    }

    private static func wrapped(
        _ kind: FieldKind, _ message: WireReader
    ) throws(CodecError) -> JSONOutput {
        var reader = message
        while !reader.isAtEnd {
            let tag = try reader.tag()
            if tag >> 3 == 1 { return try element(kind, &reader) }
            try reader.skip(tag)
        }
        // An empty wrapper has the default value.
        if case .int64 = kind { return .text("0") }
        return .integer(0)
    }

    /// Returns a message with its type's name and its fields.
    private static func any(_ message: WireReader) throws(CodecError) -> JSONOutput {
        var reader = message
        var url = ""
        var value = UnsafeBufferPointer<UInt8>(start: nil, count: 0)
        while !reader.isAtEnd {
            let tag = try reader.tag()
            switch tag >> 3 {
            case 1: url = try reader.text()
            case 2: value = try reader.lengthDelimited()
            default: try reader.skip(tag)
            }
        }
        let type = JSONOutput.Member("@type", .text(url))
        let name = url.dropFirst(FieldKind.urlPrefix.count)
        let known: [MessageType] = [.errorInfo, .help, .badRequest]
        if let match = known.first(where: { MessageSchema.of($0).name == name }),
            case .object(let fields) = try object(MessageSchema.of(match), WireReader(value))
        {
            return .object([type] + fields)
        }
        if name == "google.rpc.RetryInfo" {
            var info = WireReader(value)
            guard !info.isAtEnd, try info.tag() >> 3 == 1 else { return .object([type]) }
            return .object([type, .init("retryDelay", try duration(try info.message()))])
        }
        return .object([type, .init("value", .text(Data(value).base64EncodedString()))])
    }

    /// Returns a `google.protobuf.Struct`, whose fields are `google.protobuf.Value`.
    private static func structure(_ message: WireReader) throws(CodecError) -> JSONOutput {
        var reader = message
        var members: [JSONOutput.Member] = []
        while !reader.isAtEnd {
            let tag = try reader.tag()
            guard tag >> 3 == 1 else {
                try reader.skip(tag)
                continue
            }
            let (key, value) = try entry(&reader)
            members.append(.init(key, try structureValue(value)))
        }
        return .object(members)
    }

    private static func structureValue(_ message: WireReader) throws(CodecError) -> JSONOutput {
        var reader = message
        var result = JSONOutput.null
        while !reader.isAtEnd {
            let tag = try reader.tag()
            switch tag >> 3 {
            case 2: result = double(Double(bitPattern: try reader.fixed64()))
            case 3: result = .text(try reader.text())
            case 4: result = .bool(try reader.varint() != 0)
            case 5: result = try structure(try reader.message())
            case 6: result = .list(try structureList(try reader.message()))
            default: try reader.skip(tag)
            }
        }
        return result
    }

    private static func structureList(_ message: WireReader) throws(CodecError) -> [JSONOutput] {
        var reader = message
        var elements: [JSONOutput] = []
        while !reader.isAtEnd {
            let tag = try reader.tag()
            if tag >> 3 == 1 {
                elements.append(try structureValue(try reader.message()))
            } else {
                try reader.skip(tag)
            }
        }
        return elements
    }
}

extension FieldSchema {
    /// True if the field has the layout of a document's fields: in a document, and in an
    /// aggregation's result.
    fileprivate var isOfDocument: Bool {
        if case .map(.value) = kind { number == FieldsCodec.documentFields } else { false }
    }
}
