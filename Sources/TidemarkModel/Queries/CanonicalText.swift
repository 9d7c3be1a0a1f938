/// Writes the canonical text of a query or a value. Two queries or values share a text only if they
/// are equal.
///
/// The text is appended piece by piece. Joining separate pieces took a tenth of the time of a small
/// listen.
struct CanonicalText {
    private(set) var text = ""

    init() { text.reserveCapacity(160) }

    /// The text in ASCII.
    var escaped: String { text.escapedToASCII }

    // MARK: Queries

    /// - Parameter orders: The orders to write instead of the query's own.
    mutating func append(_ query: Query, orders: [Order]) {
        text.append(quoted: query.parent.map { $0.text + "/" } ?? "")
        text += "|"
        if let id = query.collectionID { text.append(quoted: id) } else { text += "*" }
        if query.allDescendants { text += "|group" }
        if let filter = query.filter {
            text += "|f:"
            append(filter)
        }
        if !orders.isEmpty {
            text += "|ob:"
            append(orders) { order, result in
                result.text += order.field.encoded
                result.text += order.direction == .ascending ? " asc" : " desc"
            }
        }
        if let start = query.start { append(start, "|lb:") }
        if let end = query.end { append(end, "|ub:") }
        if query.offset > 0 { text += "|o:\(query.offset)" }
        switch query.limit {
        case .first(let count): text += "|l:\(count)"
        case .last(let count): text += "|last:\(count)"
        case nil: break
        }
        if let projection = query.projection {
            text += "|p:"
            append(projection) { field, result in result.text += field.encoded }
        }
    }

    private mutating func append(_ cursor: Cursor, _ name: String) {
        text += name
        text += cursor.before ? "b" : "a"
        append(.array(cursor.values))
    }

    private mutating func append(_ filter: Filter) {
        switch filter {
        case .field(let field, let operation, let value):
            text += field.encoded
            text += " "
            text += operation.wireName
            text += " "
            append(value)
        case .unary(let field, let operation): text += "\(field.encoded) \(operation)"
        case .and(let filters): append("and(", filters)
        case .or(let filters): append("or(", filters)
        }
    }

    private mutating func append(_ name: String, _ filters: [Filter]) {
        text += name
        append(filters) { filter, result in result.append(filter) }
        text += ")"
    }

    // MARK: Values

    mutating func append(_ value: Value) {
        switch value {
        case .null: text += "null"
        case .boolean(let value): text += value ? "true" : "false"
        case .integer(let value): text += String(value)
        case .double(let value): text += Self.text(value)
        case .timestamp(let value): text += Self.text(value)
        case .pendingServerTimestamp(let time, let previous):
            text += "pending(\(Self.text(time)),"
            if let previous { append(previous) } else { text += "-" }
            text += ")"
        case .string(let value): text.append(quoted: value)
        case .bytes(let value): text += "x" + value.map(Self.hex).joined()
        case .reference(let value):
            text += "ref"
            text.append(quoted: value.name)
        case .geoPoint(let value):
            text += "geo(\(Self.text(value.latitude)),\(Self.text(value.longitude)))"
        case .array(let values):
            text += "["
            append(values) { value, result in result.append(value) }
            text += "]"
        case .vector(let value):
            text += "vector[\(value.array.map(Self.text).joined(separator: ","))]"
        case .map(let fields):
            text += "{"
            append(fields) { field, result in
                result.text.append(quoted: field.key)
                result.text += ":"
                result.append(field.value)
            }
            text += "}"
        }
    }

    /// Swift prints a double with a point or an exponent, and the text reads back as the same
    /// double.
    private static func text(_ value: Double) -> String { value.isNaN ? "nan" : "\(value)" }

    private static func text(_ time: Timestamp) -> String { "t\(time.seconds).\(time.nanoseconds)" }

    private static func hex(_ byte: UInt8) -> String {
        (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }

    /// Appends the parts with commas between them.
    private mutating func append<Parts: Sequence>(
        _ parts: Parts, _ append: (Parts.Element, inout CanonicalText) -> Void
    ) {
        var isFirst = true
        for part in parts {
            if !isFirst { text += "," }
            isFirst = false
            append(part, &self)
        }
    }
}

extension String {
    /// The text with `\u{…}` for each character outside ASCII. Any other backslash of an id
    /// precedes a backslash, a quote or a backtick, so the escape is unambiguous.
    fileprivate var escapedToASCII: String {
        if utf8.allSatisfy({ $0 < 0x80 }) { return self }
        return unicodeScalars.reduce(into: "") { result, scalar in
            if scalar.isASCII {
                result.unicodeScalars.append(scalar)
            } else {
                result += "\\u{" + String(scalar.value, radix: 16) + "}"
            }
        }
    }

    /// Appends a text in quotes, with `\` before each quote and backslash, so that the end of the
    /// text is unambiguous.
    fileprivate mutating func append(quoted other: String) {
        self += "\""
        if other.utf8.contains(where: { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }) {
            for scalar in other.unicodeScalars {
                if scalar == "\"" || scalar == "\\" { unicodeScalars.append("\\") }
                unicodeScalars.append(scalar)
            }
        } else {
            self += other
        }
        self += "\""
    }
}
