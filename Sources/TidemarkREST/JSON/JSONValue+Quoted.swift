import TidemarkModel

extension JSONValue {
    /// The value as production quotes it in an error.
    var quoted: String {
        switch self {
        case .null: "null"
        case .bool(let flag): "\(flag)"
        case .integer(let number): "\(number)"
        case .number(let number): "\(number)"
        case .text(let text): "\"\(text.prefix(200))\""
        case .list: "a list"
        case .object: "an object"
        }
    }
}
