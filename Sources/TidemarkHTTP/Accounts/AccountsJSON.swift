import Foundation
import TidemarkServer

/// Bodies as they come from anybody.
enum AccountsJSON {
    /// Objects and lists inside each other: none of ours has more than six.
    static let maxDepth = 16
    /// Values of a body of at most 128 KiB, and of a larger one, which brings a thousand accounts in.
    static let maxValues = (small: 4_000, large: 200_000)

    /// - Returns: Nil for what is no JSON object, or one that is too deep.
    static func object(_ data: Data) -> [String: JSONTree]? {
        guard isShallow(data), case .object(let fields)? = try? decode(data) else { return nil }
        return fields
    }

    static func data(_ fields: [String: JSONTree]) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(JSONTree.object(fields))) ?? Data("{}".utf8)
    }

    /// The fields of a form: `a=b&c=d`. Nil for more than 32 of them.
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

    /// Looked at before it is decoded, because decoding goes as deep as the text does, and makes an object
    /// of each value.
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
