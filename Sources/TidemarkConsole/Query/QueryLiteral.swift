import Foundation
import TidemarkModel

/// Writes values in the form of the query bar.
enum QueryLiteral {
    /// The maximum number of characters of a value; a longer value is cut, and is then no valid
    /// query.
    private static let limit = 400

    static func text(_ values: [Value]) -> String {
        "[" + values.prefix(limit).map { text($0) }.joined(separator: ", ") + "]"
    }

    static func text(_ value: Value) -> String {
        switch value {
        case .null, .boolean, .integer, .map: ValueText(value, limit: limit).text
        case .double(let number): number.isNaN ? "NaN" : "\(number)"
        case .string(let text): quoted(text)
        case .timestamp(let time), .pendingServerTimestamp(let time, _):
            "timestamp " + quoted(time.rfc3339)
        case .bytes(let bytes): "bytes " + quoted(Data(bytes.prefix(limit)).base64EncodedString())
        case .reference(let reference): "ref " + quoted(reference.path.text)
        case .geoPoint(let point): "point(\(point.latitude), \(point.longitude))"
        case .array(let values): text(values)
        case .vector(let vector): "vector" + text(vector.array.map { .double($0) })
        }
    }

    private static func quoted(_ text: String) -> String {
        var result = "\""
        for character in text.prefix(limit) {
            switch character {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\t": result += "\\t"
            default: result.append(character)
            }
        }
        return result + (text.count > limit ? "…\"" : "\"")
    }
}
