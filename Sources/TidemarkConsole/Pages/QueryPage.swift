import Tidemark
import TidemarkModel

/// A query, its rows, its plan and its price.
struct QueryPage: Page {
    let place: DataPlace
    let text: String
    let result: Result?
    let error: String?

    struct Result: Encodable {
        let table: DocumentTable
        let plan: [Plan]
        /// What production bills for the rows that are shown.
        let reads: Int
        let microseconds: Int64
        /// Whether the answer of the query as it stands grows with its collection.
        let isUnbounded: Bool
        let swift: String

        struct Plan: Encodable {
            let scope: String
            let properties: String
        }
    }

    var title: String { "Query" }
    var section: Section { .query }

    private enum CodingKeys: String, CodingKey { case place, text, result, error }

    @HTMLBuilder var body: HTML {
        Tag.form(.class("query"), .action(PagePath(address)), .role("search")) {
            Tag.label(.for("q")) { "Query" }
            Tag.input(
                .id("q"), .name("q"), .type(.search), .value(text), .noSpelling, .autofocus,
                .placeholder(#"rooms/blue/messages where n >= 3 order by n desc limit 50"#))
            Tag.button(.type(.submit)) { "Run" }
        }
        if let error { Tag.p(.role("alert")) { error } }
        if let result { show(result) }
    }

    private var address: [String] {
        ["query", place.database.project, place.database.database]
    }

    @HTMLBuilder private func show(_ result: Result) -> HTML {
        Tag.dl(.class("figures")) {
            Tag.dt { "Documents" }
            Tag.dd { result.table.rows.count.grouped }
            Tag.dt { "Reads billed in production" }
            Tag.dd { result.reads.grouped }
            Tag.dt { "Time" }
            Tag.dd { "\(Double(result.microseconds) / 1_000) ms" }
            Tag.dt { "Indexes" }
            Tag.dd {
                result.plan.map { "\($0.scope) \($0.properties)" }.joined(separator: "; ")
            }
        }
        if result.isUnbounded {
            Tag.p(.role("note"), .class("advice")) {
                """
                This query has no limit and no condition: as a listener it costs a read for each \
                document of the collection, each time it starts anew. Give it a limit, or use a feed.
                """
            }
        }
        result.table.html(place)
        Tag.details {
            Tag.summary { "In Swift" }
            Tag.pre { Tag.code { result.swift } }
        }
    }
}

/// A query as code on the public API.
struct SwiftCode {
    let query: ModelQuery

    var text: String {
        var lines: [String]
        if query.allDescendants {
            lines = ["firestore.collectionGroup(\(Self.quote(query.collectionID ?? "")))"]
        } else {
            lines = ["firestore.collection(\(Self.quote(query.collection?.text ?? "")))"]
        }
        lines += conditions(query.filter)
        for order in query.orders {
            let direction = order.direction == .descending ? ", descending: true" : ""
            lines.append("    .order(by: \(Self.quote("\(order.field)"))\(direction))")
        }
        if case .first(let count)? = query.limit { lines.append("    .limit(to: \(count))") }
        return lines.joined(separator: "\n")
    }

    private func conditions(_ filter: ModelFilter?) -> [String] {
        switch filter {
        case .and(let filters)?: return filters.flatMap { conditions($0) }
        case .field(let field, let operation, let value)?:
            let name = Self.quote("\(field)")
            return ["    .whereField(\(name), \(operation.label): \(Self.code(value)))"]
        case .unary(let field, let operation)?:
            let isNegative = operation == .isNotNaN || operation == .isNotNull
            let isNaN = operation == .isNaN || operation == .isNotNaN
            let label = isNegative ? "isNotEqualTo" : "isEqualTo"
            let value = isNaN ? "Double.nan" : "NSNull()"
            return ["    .whereField(\(Self.quote("\(field)")), \(label): \(value))"]
        case .or?, nil: return []
        }
    }

    private static func quote(_ text: String) -> String { text.debugDescription }

    private static func code(_ value: Value) -> String {
        switch value {
        case .string(let text): quote(text)
        case .array(let values): "[" + values.map { code($0) }.joined(separator: ", ") + "]"
        case .timestamp(let time): "Timestamp(rfc3339: \(quote(time.rfc3339)))"
        case .reference(let reference): "firestore.document(\(quote(reference.path.text)))"
        default: ValueText(value, limit: 10_000).text
        }
    }
}

extension ModelFilter.Operator {
    /// The label of `whereField`.
    fileprivate var label: String {
        switch self {
        case .lessThan: "isLessThan"
        case .lessThanOrEqual: "isLessThanOrEqualTo"
        case .greaterThan: "isGreaterThan"
        case .greaterThanOrEqual: "isGreaterThanOrEqualTo"
        case .equal: "isEqualTo"
        case .notEqual: "isNotEqualTo"
        case .arrayContains: "arrayContains"
        case .isIn: "in"
        case .arrayContainsAny: "arrayContainsAny"
        case .notIn: "notIn"
        }
    }
}
