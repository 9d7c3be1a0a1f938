import Foundation
import TidemarkModel

@testable import TidemarkSync

/// A value of a scenario script.
enum SpecJSON: Decodable, Equatable, Sendable {
    case null
    case bool(Bool)
    case int(Int64)
    case double(Double)
    case string(String)
    case array([SpecJSON])
    case object([String: SpecJSON])

    init(from decoder: any Decoder) throws {
        let box = try decoder.singleValueContainer()
        if box.decodeNil() {
            self = .null
        } else if let value = try? box.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? box.decode(Int64.self) {
            self = .int(value)
        } else if let value = try? box.decode(Double.self) {
            self = .double(value)
        } else if let value = try? box.decode(String.self) {
            self = .string(value)
        } else if let value = try? box.decode([SpecJSON].self) {
            self = .array(value)
        } else {
            self = .object(try box.decode([String: SpecJSON].self))
        }
    }

    subscript(key: String) -> SpecJSON? {
        if case .object(let object) = self, object[key] != .null { object[key] } else { nil }
    }
    subscript(index: Int) -> SpecJSON { list[index] }

    var keys: [String] { if case .object(let object) = self { object.keys.sorted() } else { [] } }
    var list: [SpecJSON] { if case .array(let list) = self { list } else { [] } }
    var text: String? { if case .string(let text) = self { text } else { nil } }
    var int: Int64? { if case .int(let int) = self { int } else { nil } }
    var flag: Bool { self == .bool(true) }
    var ids: [Int32] { list.compactMap { $0.int.map(Int32.init) } }
}

extension SpecJSON {
    var value: Value {
        switch self {
        case .null: .null
        case .bool(let value): .boolean(value)
        case .int(let value): .integer(value)
        case .double(let value): .double(value)
        case .string(let value): .string(value)
        case .array(let values): .array(values.map(\.value))
        case .object: .map(map)
        }
    }

    var map: MapValue {
        guard case .object(let object) = self else { return [:] }
        return MapValue(object.map { ($0.key, $0.value.value) })
    }

    /// The query of a path, or of an object with filters, orders and a limit.
    var query: Query {
        let text = text ?? self["path"]!.text!
        if let path = try? DocumentPath(text) { return .document(path, in: Harness.database) }
        var query: Query
        if let group = self["collectionGroup"]?.text {
            query = Query(collectionID: group, allDescendants: true)
        } else {
            query = Query(collection: try! CollectionPath(text))
        }
        let filters = (self["filters"]?.list ?? []).map { filter in
            Filter.field(
                Self.field(filter[0].text!), Self.operators[filter[1].text!]!, filter[2].value)
        }
        if filters.count == 1 { query.filter = filters[0] }
        if filters.count > 1 { query.filter = .and(filters) }
        query.orders = (self["orderBys"]?.list ?? []).map { order in
            Order(Self.field(order[0].text!), order[1].text == "desc" ? .descending : .ascending)
        }
        if let limit = self["limit"]?.int {
            query.limit =
                self["limitType"]?.text == "LimitToLast" ? .last(Int(limit)) : .first(Int(limit))
        }
        return query
    }

    static func field(_ text: String) -> FieldPath { try! FieldPath(encoded: text) }

    private static let operators: [String: Filter.Operator] = [
        "==": .equal, "<": .lessThan, "<=": .lessThanOrEqual, ">": .greaterThan,
        ">=": .greaterThanOrEqual, "array-contains": .arrayContains, "!=": .notEqual,
    ]
}
