import Foundation

/// A JSON value with its integers kept apart from its other numbers.
indirect enum JSON: Decodable, Hashable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case number(Double)
    case text(String)
    case array([JSON])
    case object([String: JSON])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .boolean(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .text(value)
        } else if let value = try? container.decode([JSON].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSON].self))
        }
    }

    init(_ text: String) throws {
        self = try JSONDecoder().decode(JSON.self, from: Data(text.utf8))
    }

    subscript(key: String) -> JSON? {
        if case .object(let object) = self { object[key] } else { nil }
    }

    var text: String? { if case .text(let value) = self { value } else { nil } }
    var array: [JSON] { if case .array(let values) = self { values } else { [] } }
    var isTrue: Bool { self == .boolean(true) }
    var integer: Int? {
        switch self {
        case .integer(let value): Int(value)
        case .text(let value): Int(value)
        default: nil
        }
    }
}
