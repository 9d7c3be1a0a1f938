extension Query {
    /// A text that two queries share only when they are equal: a key for stored targets, and a name
    /// for logs. Costs about as many bytes as the query has on the wire. All ASCII, so that Swift's own
    /// equality of strings, and so a dictionary, tells two ids apart.
    ///
    /// Implicit orders are not written out, and a limit to the last rows is not one to the first: take
    /// the id of ``wireForm`` to know what the server is asked.
    public var canonicalID: String { canonicalID(orders: orders) }

    /// The id that it has with other orders.
    package func canonicalID(orders: [Order]) -> String {
        // Written piece by piece into one text: pieces joined took a tenth of a small listen.
        var text = ""
        text.reserveCapacity(160)
        text.append(quoted: parent.map { $0.text + "/" } ?? "")
        text += "|"
        if let collectionID { text.append(quoted: collectionID) } else { text += "*" }
        if allDescendants { text += "|group" }
        if let filter {
            text += "|f:"
            filter.appendID(to: &text)
        }
        if !orders.isEmpty {
            text += "|ob:"
            text.append(orders) { order, text in
                text += order.field.encoded
                text += order.direction == .ascending ? " asc" : " desc"
            }
        }
        if let start { start.appendID("|lb:", to: &text) }
        if let end { end.appendID("|ub:", to: &text) }
        if offset > 0 { text += "|o:\(offset)" }
        switch limit {
        case .first(let count): text += "|l:\(count)"
        case .last(let count): text += "|last:\(count)"
        case nil: break
        }
        if let projection {
            text += "|p:"
            text.append(projection) { field, text in text += field.encoded }
        }
        return text.escapedToASCII
    }
}

extension Cursor {
    fileprivate func appendID(_ name: String, to text: inout String) {
        text += name
        text += before ? "b" : "a"
        Value.array(values).appendID(to: &text)
    }
}

extension Filter {
    fileprivate func appendID(to text: inout String) {
        switch self {
        case .field(let field, let operation, let value):
            text += field.encoded
            text += " "
            text += operation.wireName
            text += " "
            value.appendID(to: &text)
        case .unary(let field, let operation): text += "\(field.encoded) \(operation)"
        case .and(let filters): Self.append("and(", filters, to: &text)
        case .or(let filters): Self.append("or(", filters, to: &text)
        }
    }

    private static func append(_ name: String, _ filters: [Filter], to text: inout String) {
        text += name
        text.append(filters) { filter, text in filter.appendID(to: &text) }
        text += ")"
    }
}

extension Value {
    /// A text that two values share only when they are stored alike.
    package var canonicalID: String {
        var text = ""
        appendID(to: &text)
        return text
    }

    fileprivate func appendID(to text: inout String) {
        switch self {
        case .null: text += "null"
        case .boolean(let value): text += value ? "true" : "false"
        case .integer(let value): text += String(value)
        case .double(let value): text += Self.canonicalID(value)
        case .timestamp(let value): text += value.canonicalID
        case .pendingServerTimestamp(let time, let previous):
            text += "pending(\(time.canonicalID),\(previous?.canonicalID ?? "-"))"
        case .string(let value): text.append(quoted: value)
        case .bytes(let value): text += "x" + value.map(Self.hex).joined()
        case .reference(let value):
            text += "ref"
            text.append(quoted: value.name)
        case .geoPoint(let value):
            text += "geo(\(Self.canonicalID(value.latitude)),\(Self.canonicalID(value.longitude)))"
        case .array(let values):
            text += "["
            text.append(values) { value, text in value.appendID(to: &text) }
            text += "]"
        case .vector(let value):
            text += "vector[\(value.array.map(Self.canonicalID).joined(separator: ","))]"
        case .map(let fields):
            text += "{"
            text.append(fields) { field, text in
                text.append(quoted: field.key)
                text += ":"
                field.value.appendID(to: &text)
            }
            text += "}"
        }
    }

    /// Swift prints a double with a point or an exponent, and so that it reads back the same.
    private static func canonicalID(_ value: Double) -> String {
        value.isNaN ? "nan" : "\(value)"
    }

    private static func hex(_ byte: UInt8) -> String {
        (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
}

extension Timestamp {
    fileprivate var canonicalID: String { "t\(seconds).\(nanoseconds)" }
}

extension String {
    /// With `\u{…}` for what is not ASCII. Every other backslash of an id stands before a backslash, a
    /// quote or a backtick, so nothing else reads like that.
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

    /// In quotes, with `\` before a quote and before itself, so that it ends where it seems to end.
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

    /// With commas between them.
    fileprivate mutating func append<Parts: Sequence>(
        _ parts: Parts, _ append: (Parts.Element, inout String) -> Void
    ) {
        var isFirst = true
        for part in parts {
            if !isFirst { self += "," }
            isFirst = false
            append(part, &self)
        }
    }
}
