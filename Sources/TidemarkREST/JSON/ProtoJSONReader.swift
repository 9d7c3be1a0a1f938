import TidemarkModel

/// Reads protobuf's JSON into a message's bytes.
///
/// Errors have the text of the transcoder in front of production, and name the place with the
/// protocol's field names. Source: server-production-facts 3.
struct ProtoJSONReader {
    /// The maximum depth of objects and lists. A pipeline has up to 100 functions inside each other
    /// with three levels each, and the request adds more around them.
    static let maxDepth = 340

    /// True if the values are from a URL. All of them are then texts, also booleans.
    private let isFromURL: Bool
    private var place: [Step] = []

    private enum Step {
        case field(String)
        case index(Int)
    }

    init(isFromURL: Bool = false) { self.isFromURL = isFromURL }

    mutating func message(
        _ type: MessageType, _ object: JSONObject
    ) throws(RPCStatus) -> [UInt8] {
        var writer = WireWriter()
        try fields(of: MessageSchema.of(type), object, into: &writer)
        return writer.bytes
    }

    private mutating func fields(
        of schema: MessageSchema, _ object: JSONObject, into writer: inout WireWriter
    ) throws(RPCStatus) {
        if place.count > Self.maxDepth {
            throw .invalidJSON("Message too deep. Max recursion depth reached.", at: "")
        }
        var taken: Set<String> = []
        for (name, value) in object {
            guard let field = schema.field(named: name) else { throw unknown(name) }
            if case .null = value, !field.takesNull { continue }
            place.append(.field(field.name))
            if let oneof = field.oneof, !taken.insert(oneof).inserted {
                throw alreadySet(oneof, name)
            }
            try write(field, value, into: &writer)
            place.removeLast()
        }
    }

    private mutating func write(
        _ field: FieldSchema, _ value: JSONValue, into writer: inout WireWriter
    ) throws(RPCStatus) {
        switch field.kind {
        case .map(let type): return try map(field, type: type, value: value, into: &writer)
        case .textMap: return try textMap(field, value, into: &writer)
        default: break
        }
        guard field.isRepeated else {
            if case .list = value, !field.kind.isList { throw startsList(field) }
            return try element(field.number, kind: field.kind, value: value, into: &writer)
        }
        guard case .list(let elements) = value else {
            throw invalid(field.kind, value)
        }
        for (index, element) in elements.enumerated() {
            place.append(.index(index))
            try self.element(field.number, kind: field.kind, value: element, into: &writer)
            place.removeLast()
        }
    }

    private mutating func element(
        _ number: UInt64, kind: FieldKind, value: JSONValue, into writer: inout WireWriter
    ) throws(RPCStatus) {
        switch kind {
        case .text:
            guard case .text(let text) = value else { throw invalid(kind, value) }
            writer.text(number, text)
        case .bytes:
            guard case .text(let text) = value, let bytes = Base64Text.bytes(text) else {
                throw invalid(kind, value)
            }
            writer.data(number, bytes)
        case .bool:
            guard let flag = flag(value) else { throw invalid(kind, value) }
            writer.tag(number, 0)
            writer.varint(flag ? 1 : 0)
        case .int32:
            guard let integer = NumberText.integer(value), let small = Int32(exactly: integer)
            else { throw invalid(kind, value) }
            varint(number, Int64(small), into: &writer)
        case .int64:
            guard let integer = NumberText.integer(value) else { throw invalid(kind, value) }
            varint(number, integer, into: &writer)
        case .double:
            guard let double = NumberText.double(value) else { throw invalid(kind, value) }
            writer.tag(number, 1)
            writer.fixed64(double.bitPattern)
        case .enumeration(let type):
            varint(number, Int64(try self.number(of: type, value)), into: &writer)
        case .null:
            varint(number, 0, into: &writer)
            if case .null = value { return }
            guard case .text("NULL_VALUE") = value else { throw invalid(kind, value) }
        case .message, .timestamp, .duration, .wrapped, .any, .structure, .map, .textMap:
            writer.data(number, try nested(kind, value))
        }
    }

    private mutating func nested(
        _ kind: FieldKind, _ value: JSONValue
    ) throws(RPCStatus) -> [UInt8] {
        var writer = WireWriter()
        switch (kind, value) {
        case (.message(let type), .object(let object)):
            try fields(of: MessageSchema.of(type), object, into: &writer)
        case (.timestamp, .text(let text)):
            guard let time = Timestamp(rfc3339: text) else { throw noTime(value) }
            varint(1, time.seconds, into: &writer)
            varint(2, Int64(time.nanoseconds), into: &writer)
        case (.wrapped(let inner), .object(let object)):
            // The oldest web clients of Google send an object with the member `value`.
            let members = Array(object)
            guard members.count == 1, members[0].name == "value" else {
                throw invalid(kind, value)
            }
            try element(1, kind: inner, value: members[0].value, into: &writer)
        case (.wrapped(let inner), _): try element(1, kind: inner, value: value, into: &writer)
        default: throw invalid(kind, value)
        }
        return writer.bytes
    }

    private func varint(_ number: UInt64, _ value: Int64, into writer: inout WireWriter) {
        writer.tag(number, 0)
        writer.varint(UInt64(bitPattern: value))
    }

    private func number(of type: EnumType, _ value: JSONValue) throws(RPCStatus) -> Int32 {
        switch value {
        case .text(let name):
            if let number = type.schema.numbers[name] { return number }
        case .integer(let number):
            if let small = Int32(exactly: number), type.schema.name(of: small) != nil {
                return small
            }
        default: break
        }
        throw invalid(.enumeration(type), value)
    }

    private func flag(_ value: JSONValue) -> Bool? {
        switch value {
        case .bool(let flag): flag
        case .text(let text) where isFromURL: URLFlag.flag(text)
        default: nil
        }
    }
}

// MARK: - Maps

extension ProtoJSONReader {
    private mutating func map(
        _ field: FieldSchema, type: MessageType, value: JSONValue,
        into writer: inout WireWriter
    ) throws(RPCStatus) {
        guard case .object(let entries) = value else { throw invalid(field.kind, value) }
        var names: Set<ByteString> = []
        for (index, entry) in entries.enumerated() {
            try check(entry.name, isFirst: names.insert(ByteString(entry.name)).inserted)
            place += [.index(index), .field("value")]
            var pair = WireWriter()
            pair.text(1, entry.name)
            pair.data(2, try nested(.message(type), entry.value))
            writer.data(field.number, pair.bytes)
            place.removeLast(2)
        }
    }

    private mutating func textMap(
        _ field: FieldSchema, _ value: JSONValue, into writer: inout WireWriter
    ) throws(RPCStatus) {
        guard case .object(let entries) = value else { throw invalid(field.kind, value) }
        var names: Set<ByteString> = []
        for entry in entries {
            try check(entry.name, isFirst: names.insert(ByteString(entry.name)).inserted)
            guard case .text(let text) = entry.value else { throw invalid(.text, entry.value) }
            var pair = WireWriter()
            pair.text(1, entry.name)
            pair.text(2, text)
            writer.data(field.number, pair.bytes)
        }
    }

    /// Refuses a repeated name in a map, as Google's transcoder does.
    private func check(_ name: String, isFirst: Bool) throws(RPCStatus) {
        if isFirst { return }
        throw .invalidJSON(
            """
            Unknown name "\(name.prefix(200))" at '\(placeText)': Repeated map key: \
            '\(name.prefix(200))' is already set.
            """, at: placeText)
    }
}

// MARK: - Refusals

extension ProtoJSONReader {
    /// The place of the error, as in `document.fields[0].value`.
    private var placeText: String {
        var text = ""
        for step in place {
            switch step {
            case .field(let name): text += text.isEmpty ? name : "." + name
            case .index(let index): text += "[\(index)]"
            }
        }
        return text
    }

    private func unknown(_ name: String) -> RPCStatus {
        let place = placeText
        let problem =
            isFromURL
            ? "Cannot bind query parameter. Field '\(name)' could not be found in request message."
            : "Cannot find field."
        let at = place.isEmpty ? "" : " at '\(place)'"
        return .invalidJSON("Unknown name \"\(name.prefix(200))\"\(at): \(problem)", at: place)
    }

    private func startsList(_ field: FieldSchema) -> RPCStatus {
        .invalidJSON(
            "Unknown name \"\(field.name)\": Proto field is not repeating, cannot start list.",
            at: placeText)
    }

    private func alreadySet(_ oneof: String, _ name: String) -> RPCStatus {
        let place = place.dropLast().isEmpty ? "" : " at '" + parentText + "'"
        return .badRequest(
            """
            Invalid value\(place) (oneof), oneof field '\(oneof)' is already set. Cannot set '\(name)'
            """, at: parentText)
    }

    private var parentText: String {
        var parent = self
        parent.place.removeLast()
        return parent.placeText
    }

    private func invalid(_ kind: FieldKind, _ value: JSONValue) -> RPCStatus {
        .badRequest(
            "Invalid value at '\(placeText)' (\(kind.typeName)), \(value.quoted)", at: placeText)
    }

    private func noTime(_ value: JSONValue) -> RPCStatus {
        .badRequest(
            """
            Invalid value at '\(placeText)' (\(FieldKind.timestamp.typeName)), Illegal timestamp \
            format; timestamps must end with 'Z' or have a valid timezone offset.
            """, at: placeText)
    }
}

extension RPCStatus {
    /// - Parameter place: The field with the error; empty if the error is in the whole message.
    static func badRequest(_ message: String, at place: String) -> RPCStatus {
        RPCStatus(
            .invalidArgument, message, details: [.badRequest(field: place, description: message)])
    }

    static func invalidJSON(_ problem: String, at place: String) -> RPCStatus {
        badRequest("Invalid JSON payload received. " + problem, at: place)
    }
}

extension FieldSchema {
    /// True if a JSON null is a value of the field. For other fields, null means that the field is
    /// absent.
    fileprivate var takesNull: Bool { if case .null = kind { true } else { false } }
}

extension FieldKind {
    fileprivate var isList: Bool { if case .structure = self { true } else { false } }
}
