import Foundation

/// JSON as it came in, one level at a time.
enum JSONInput {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case text(String)
    case list([Any])
    case object([String: Any])

    /// - Parameter value: What `JSONSerialization` makes.
    init(_ value: Any) {
        switch value {
        case let text as String: self = .text(text)
        case let object as [String: Any]: self = .object(object)
        case let list as [Any]: self = .list(list)
        case let number as NSNumber: self = Self.scalar(number)
        default: self = .null
        }
    }

    /// Booleans are numbers to Foundation, of a type of their own. An integer that does not fit into 64
    /// bits with a sign is a number.
    private static func scalar(_ number: NSNumber) -> JSONInput {
        switch UInt8(bitPattern: number.objCType.pointee) {
        case UInt8(ascii: "c"), UInt8(ascii: "B"): .bool(number.boolValue)
        case UInt8(ascii: "d"), UInt8(ascii: "f"): .number(number.doubleValue)
        case UInt8(ascii: "Q"):
            Int64(exactly: number.uint64Value).map { .integer($0) }
                ?? .number(number.doubleValue)
        default: .integer(number.int64Value)
        }
    }

    /// The value as production repeats it in a refusal.
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
