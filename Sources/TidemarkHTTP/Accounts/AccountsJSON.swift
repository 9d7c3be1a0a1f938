import Foundation
import TidemarkServer

/// Decodes bodies from untrusted callers.
enum AccountsJSON {
    /// The maximum depth of objects and lists. Valid bodies have at most six levels.
    static let maxDepth = 16
    /// The maximum number of values in a body of at most 128 KiB, and in a larger body, which
    /// imports accounts.
    static let maxValues = (small: 4_000, large: 200_000)

    /// - Returns: The fields; nil if the data is not a JSON object, or is too deep.
    static func object(_ data: Data) -> [String: JSONTree]? {
        guard isShallow(data), case .object(let fields)? = try? decode(data) else { return nil }
        return fields
    }

    static func data(_ fields: [String: JSONTree]) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(JSONTree.object(fields))) ?? Data("{}".utf8)
    }

    /// Returns the fields of a form such as `a=b&c=d`; nil if there are more than 32.
    static func form(_ text: String) -> [String: String]? {
        let pairs = text.split(separator: "&")
        guard pairs.count <= 32 else { return nil }
        var fields: [String: String] = [:]
        for pair in pairs {
            let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let plain = sides.map {
                $0.replacing("+", with: " ").removingPercentEncoding
            }
            guard let name = plain[0], let value = plain.count > 1 ? plain[1] : "" else {
                return nil
            }
            fields[name] = value
        }
        return fields
    }

    private static func decode(_ data: Data) throws -> JSONTree {
        try JSONDecoder().decode(JSONTree.self, from: data)
    }

    /// Checks depth and size before decoding, because the decoder recurses into each level and
    /// creates an object for each value.
    static func isShallow(_ data: Data) -> Bool {
        let most = data.count <= 128 << 10 ? maxValues.small : maxValues.large
        var values = 0
        var depth = 0
        var isInText = false
        var isEscaped = false
        for byte in data {
            if isInText {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isInText = false
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isInText = true
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                values += 1
                if depth > maxDepth || values > most { return false }
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            case UInt8(ascii: ","):
                values += 1
                if values > most { return false }
            default: break
            }
        }
        return true
    }
}
