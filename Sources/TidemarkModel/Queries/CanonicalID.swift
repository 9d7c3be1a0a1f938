extension Query {
    /// A text that two queries share only when they are equal: a key for stored targets, and a name
    /// for logs. Costs about as many bytes as the query has on the wire. All ASCII, so that Swift's own
    /// equality of strings, and so a dictionary, tells two ids apart.
    ///
    /// Implicit orders are not written out, and a limit to the last rows is not one to the first: take
    /// the id of ``wireForm`` to know what the server is asked.
    public var canonicalID: String {
        var text = (parent.map { $0.text + "/" } ?? "").quotedForID
        text += "|" + (collectionID?.quotedForID ?? "*")
        if allDescendants { text += "|group" }
        if let filter { text += "|f:" + filter.canonicalID }
        if !orders.isEmpty { text += "|ob:" + orders.map(\.canonicalID).joined(separator: ",") }
        if let start { text += "|lb:" + start.canonicalID }
        if let end { text += "|ub:" + end.canonicalID }
        if offset > 0 { text += "|o:\(offset)" }
        switch limit {
        case .first(let count): text += "|l:\(count)"
        case .last(let count): text += "|last:\(count)"
        case nil: break
        }
        if let projection {
            text += "|p:" + projection.map(\.encoded).joined(separator: ",")
        }
        return text.escapedToASCII
    }
}

extension Order {
    fileprivate var canonicalID: String {
        field.encoded + (direction == .ascending ? " asc" : " desc")
    }
}

extension Cursor {
    fileprivate var canonicalID: String {
        (before ? "b" : "a") + Value.array(values).canonicalID
    }
}

extension Filter {
    fileprivate var canonicalID: String {
        switch self {
        case .field(let field, let operation, let value):
            "\(field.encoded) \(operation.wireName) \(value.canonicalID)"
        case .unary(let field, let operation): "\(field.encoded) \(operation)"
        case .and(let filters): "and(\(filters.map(\.canonicalID).joined(separator: ",")))"
        case .or(let filters): "or(\(filters.map(\.canonicalID).joined(separator: ",")))"
        }
    }
}

extension Value {
    /// A text that two values share only when they are stored alike.
    package var canonicalID: String {
        switch self {
        case .null: "null"
        case .boolean(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .double(let value): Self.canonicalID(value)
        case .timestamp(let value): value.canonicalID
        case .pendingServerTimestamp(let time, let previous):
            "pending(\(time.canonicalID),\(previous?.canonicalID ?? "-"))"
        case .string(let value): value.quotedForID
        case .bytes(let value): "x" + value.map(Self.hex).joined()
        case .reference(let value): "ref" + value.name.quotedForID
        case .geoPoint(let value):
            "geo(\(Self.canonicalID(value.latitude)),\(Self.canonicalID(value.longitude)))"
        case .array(let values): "[\(values.map(\.canonicalID).joined(separator: ","))]"
        case .vector(let value):
            "vector[\(value.array.map(Self.canonicalID).joined(separator: ","))]"
        case .map(let fields):
            "{\(fields.map { $0.key.quotedForID + ":" + $0.value.canonicalID }.joined(separator: ","))}"
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
    fileprivate var quotedForID: String {
        if !utf8.contains(where: { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }) {
            return "\"" + self + "\""
        }
        var result = "\""
        for scalar in unicodeScalars {
            if scalar == "\"" || scalar == "\\" { result.unicodeScalars.append("\\") }
            result.unicodeScalars.append(scalar)
        }
        return result + "\""
    }
}
