import Foundation
import Testing
import TidemarkModel

@testable import TidemarkServer

/// A query, the existing indexes, and the answer of production.
struct PlanCase: Sendable, CustomTestStringConvertible {
    let name: String
    var query: Query
    var aggregations: [Aggregation] = []
    var configuration: IndexConfiguration
    /// The used indexes in the form of explain. The indexes of collection groups have the prefix
    /// `group `.
    var uses: [String] = []
    /// The missing indexes: composite indexes in the form of ``uses``, single fields as in
    /// `COLLECTION_ASC a`.
    var missing: [String] = []

    var testDescription: String { name }

    /// Makes a query of collection `c` with these filters and orders.
    init(
        _ name: String, _ filters: Filter..., orders: String..., isGroup: Bool = false,
        sum: [String] = [], nearest: FindNearest? = nil, indexes: [String] = [],
        fields: [(path: String, indexes: [String])] = [], uses: [String] = [],
        missing: [String] = []
    ) {
        self.name = name
        query = Query(
            collectionID: "c", allDescendants: isGroup,
            filter: filters.isEmpty ? nil : .and(filters), orders: orders.map(order),
            findNearest: nearest)
        aggregations = sum.map { Aggregation(alias: "", .sum(field($0))) }
        let json = Self.json(indexes, fields)
        configuration = try! IndexConfiguration(json: json)
        self.uses = uses
        self.missing = missing
    }

    /// Returns an index file from a short form: `a ASC, b DESC`, with the prefix `group ` for the
    /// indexes of groups.
    static func json(
        _ indexes: [String], _ fields: [(path: String, indexes: [String])] = []
    ) -> Data {
        let composites = indexes.map { text in
            let parts = unscoped(text).split(separator: ", ").map { part in
                #"{"fieldPath": "\#(part.split(separator: " ")[0])", \#(mode(String(part)))}"#
            }
            return """
                {"collectionGroup": "c", "queryScope": "\(scope(text))", \
                "fields": [\(parts.joined(separator: ","))]}
                """
        }
        let overrides = fields.map { field in
            let indexes = field.indexes.map {
                #"{"queryScope": "\#(scope($0))", \#(mode($0))}"#
            }
            return """
                {"collectionGroup": "c", "fieldPath": "\(field.path)", \
                "indexes": [\(indexes.joined(separator: ","))]}
                """
        }
        return Data(
            """
            {"indexes": [\(composites.joined(separator: ","))],
            "fieldOverrides": [\(overrides.joined(separator: ","))]}
            """.utf8)
    }

    private static func unscoped(_ text: String) -> Substring {
        text.hasPrefix("group ") ? text.dropFirst(6) : text[...]
    }

    private static func scope(_ text: String) -> String {
        text.hasPrefix("group ") ? "COLLECTION_GROUP" : "COLLECTION"
    }

    private static func mode(_ text: String) -> String {
        switch text.split(separator: " ").last! {
        case "ASC": return #""order": "ASCENDING""#
        case "DESC": return #""order": "DESCENDING""#
        case "CONTAINS": return #""arrayConfig": "CONTAINS""#
        case let vector:
            let digits = vector.filter(\.isNumber)
            return #""vectorConfig": {"dimension": \#(digits), "flat": {}}"#
        }
    }

    var requirement: IndexRequirement {
        IndexRequirement(query, aggregations, in: configuration.catalog)
    }
}

func field(_ text: String) -> FieldPath { try! FieldPath(encoded: text) }

/// Parses `a` or `a DESC`.
func order(_ text: String) -> Order {
    let parts = text.split(separator: " ")
    return Order(field(String(parts[0])), parts.last == "DESC" ? .descending : .ascending)
}

func equal(_ name: String, _ value: Value = .integer(1)) -> Filter {
    .field(field(name), .equal, value)
}

func above(_ name: String, _ value: Value = .integer(1)) -> Filter {
    .field(field(name), .greaterThan, value)
}

func contains(_ name: String) -> Filter { .field(field(name), .arrayContains, .integer(1)) }

func isIn(_ name: String, _ values: Int64...) -> Filter {
    .field(field(name), .isIn, .array(values.map(Value.integer)))
}

func name(_ id: String) -> Value {
    .reference(
        ReferenceValue(database: try! DatabaseID(project: "test"), path: path("c/\(id)")))
}

func nearest(_ name: String, dimension: Int = 3) -> FindNearest {
    FindNearest(
        field: field(name), vector: Array(repeating: 1, count: dimension), measure: .euclidean,
        limit: 5)
}

/// Returns the text of an index in the form of ``PlanCase/uses``.
func spoken(_ use: IndexUse) -> String {
    (use.queryScope == "Collection" ? "" : "group ") + use.properties
}

func spoken(_ index: MissingIndex) -> String {
    switch index {
    case .composite: spoken(index.use)
    case .singleField(let index): "\(index.kind) \(index.field.path.encoded)"
    }
}
