import Foundation
import TidemarkModel

/// A value in a table's cell: its kind, and its text, cut at a limit.
struct ValueText: Hashable, Sendable {
    /// The word for the value's type.
    let kind: String
    let text: String
    /// True if the text is only the beginning.
    let isCut: Bool

    /// - Parameter limit: The maximum number of characters.
    init(_ value: Value, limit: Int = 120) {
        kind = value.kindName
        let whole = Self.text(of: value, limit: limit)
        isCut = whole.count > limit
        text = isCut ? String(whole.prefix(limit)) + "…" : whole
    }

    /// Returns the text. Texts of lists and maps end soon after the limit, regardless of their
    /// size.
    private static func text(of value: Value, limit: Int) -> String {
        switch value {
        case .null: "null"
        case .boolean(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .double(let value): "\(value)"
        case .timestamp(let time): time.rfc3339
        case .pendingServerTimestamp(let time, _): time.rfc3339
        case .string(let value): "\"" + value.prefix(limit) + "\""
        case .bytes(let bytes):
            "\(bytes.count) bytes " + Data(bytes.prefix(limit)).base64EncodedString()
        case .reference(let reference): reference.path.text
        case .geoPoint(let point): "\(point.latitude)° N, \(point.longitude)° E"
        case .vector(let vector):
            "[" + joined(vector.array.lazy.map { "\($0)" }, limit) + "]"
        case .array(let values):
            "[" + joined(values.lazy.map { text(of: $0, limit: limit) }, limit) + "]"
        case .map(let map):
            "{"
                + joined(
                    map.entries.lazy.map { "\($0.key): " + text(of: $0.value, limit: limit) }, limit
                )
                + "}"
        }
    }

    private static func joined(_ parts: some Sequence<String>, _ limit: Int) -> String {
        var result = ""
        for part in parts {
            if !result.isEmpty { result += ", " }
            result += part
            if result.utf8.count > 4 * limit { break }
        }
        return result
    }
}

extension Value {
    var kindName: String {
        switch self {
        case .null: "null"
        case .boolean: "boolean"
        case .integer: "integer"
        case .double: "double"
        case .timestamp, .pendingServerTimestamp: "timestamp"
        case .string: "string"
        case .bytes: "bytes"
        case .reference: "reference"
        case .geoPoint: "geo point"
        case .array: "array"
        case .vector: "vector"
        case .map: "map"
        }
    }
}
