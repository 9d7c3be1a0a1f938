import Foundation
import TidemarkModel

/// A document's value as a case writes it: plain JSON, and an object with one `$` key for what JSON has
/// no form of.
enum CaseValue {
    /// A value that is there already: the server's time is none.
    static func stored(_ tree: JSONTree) throws(RulesCaseError) -> Value {
        let value = try value(tree)
        if value.holdsServerTime(isInArray: true) {
            throw RulesCaseError("A server time stands only in the data of a write.")
        }
        return value
    }

    static func value(_ tree: JSONTree) throws(RulesCaseError) -> Value {
        switch tree {
        case .null: return .null
        case .bool(let value): return .boolean(value)
        case .integer(let value): return .integer(value)
        case .number(let value): return .double(value)
        case .text(let value): return .string(value)
        case .list(let trees):
            var values: [Value] = []
            for tree in trees { values.append(try value(tree)) }
            return .array(values)
        case .object(let fields):
            if fields.count == 1, let (key, inner) = fields.first, key.hasPrefix("$") {
                return try special(key, inner)
            }
            var pairs: [(String, Value)] = []
            for (key, inner) in fields { pairs.append((key, try value(inner))) }
            return .map(MapValue(pairs))
        }
    }

    private static func special(_ key: String, _ inner: JSONTree) throws(RulesCaseError) -> Value {
        switch (key, inner) {
        case ("$timestamp", .text(let text)):
            let parser = Date.ISO8601FormatStyle(includingFractionalSeconds: text.contains("."))
            if let date = try? parser.parse(text) {
                let milliseconds = (date.timeIntervalSince1970 * 1_000).rounded()
                return .timestamp(Timestamp(milliseconds: Int64(milliseconds)))
            }
        case ("$serverTime", .bool(true)):
            return .pendingServerTimestamp(localWriteTime: .epoch, previous: nil)
        case ("$double", .integer(let value)): return .double(Double(value))
        case ("$double", .number(let value)): return .double(value)
        case ("$bytes", .text(let text)):
            if let data = Data(base64Encoded: text) { return .bytes(Array(data)) }
        case ("$reference", .text(let text)):
            if let path = try? DocumentPath(text), let database = try? DatabaseID(project: "rules")
            {
                return .reference(ReferenceValue(database: database, path: path))
            }
        case ("$geoPoint", .list(let parts)):
            if parts.count == 2, let latitude = number(parts[0]), let longitude = number(parts[1]),
                GeoPoint.isValid(latitude: latitude, longitude: longitude)
            {
                return .geoPoint(GeoPoint(latitude: latitude, longitude: longitude))
            }
        default: break
        }
        throw RulesCaseError(
            """
            No value is written like that: {"$timestamp": "2026-01-01T00:00:00Z"}, {"$serverTime": \
            true}, {"$double": 1}, {"$bytes": base64}, {"$reference": path} and {"$geoPoint": \
            [latitude, longitude]} are.
            """)
    }

    private static func number(_ tree: JSONTree) -> Double? {
        switch tree {
        case .integer(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }
}
