import Foundation
import TidemarkServer

typealias JSON = JSONTree

extension JSONTree {
    init(_ text: String) throws {
        self = try JSONDecoder().decode(JSON.self, from: Data(text.utf8))
    }

    subscript(key: String) -> JSON? {
        if case .object(let object) = self { object[key] } else { nil }
    }

    var text: String? { if case .text(let value) = self { value } else { nil } }
    var array: [JSON] { if case .list(let values) = self { values } else { [] } }
    var isTrue: Bool { self == .bool(true) }
    var integer: Int? {
        switch self {
        case .integer(let value): Int(value)
        case .text(let value): Int(value)
        default: nil
        }
    }
}
