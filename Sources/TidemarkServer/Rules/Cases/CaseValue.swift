import Foundation
import TidemarkModel

/// A document's value in a case's JSON. Values without a form in JSON are objects with a single `$`
/// key.
enum CaseValue {
    /// Returns the value of a stored document. A server time is refused, because stored documents
    /// contain none.
    static func stored(_ json: JSONValue) throws(RulesCaseError) -> Value {
        let value = try value(json)
        if value.holdsServerTime(isInArray: true) {
            throw RulesCaseError("A server time is allowed only in the data of a write.")
        }
        return value
    }

    static func value(_ json: JSONValue) throws(RulesCaseError) -> Value {
        switch json {
        case .null: return .null
        case .bool(let value): return .boolean(value)
        case .integer(let value): return .integer(value)
        case .number(let value): return .double(value)
        case .text(let value): return .string(value)
        case .list(let elements):
            var values: [Value] = []
            for element in elements { values.append(try value(element)) }
            return .array(values)
        case .object(let object):
            let members = Array(object)
            if members.count == 1, members[0].name.hasPrefix("$") {
                return try special(members[0].name, members[0].value)
            }
            var pairs: [(String, Value)] = []
            for (name, inner) in members { pairs.append((name, try value(inner))) }
            return .map(MapValue(pairs))
        }
    }

    private static func special(_ key: String, _ inner: JSONValue) throws(RulesCaseError) -> Value {
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
        case ("$geoPoint", .list(let list)):
            let parts = Array(list)
            if parts.count == 2, let latitude = number(parts[0]), let longitude = number(parts[1]),
                GeoPoint.isValid(latitude: latitude, longitude: longitude)
            {
                return .geoPoint(GeoPoint(latitude: latitude, longitude: longitude))
            }
        default: break
        }
        throw RulesCaseError(
            """
            Unknown value. Special values are {"$timestamp": "2026-01-01T00:00:00Z"}, \
            {"$serverTime": true}, {"$double": 1}, {"$bytes": base64}, {"$reference": path} and \
            {"$geoPoint": [latitude, longitude]}.
            """)
    }

    private static func number(_ json: JSONValue) -> Double? {
        switch json {
        case .integer(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }
}
