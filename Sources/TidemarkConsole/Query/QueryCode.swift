import Foundation
import TidemarkModel

/// A query as code for Tidemark's API, and for Google's libraries for JavaScript and Python.
struct QueryCode {
    enum Language: String, CaseIterable, Sendable { case Swift, JavaScript, Python }

    struct Text: Encodable {
        let language: String
        let text: String
    }

    let asked: AskedQuery
    let language: Language
    private var query: ModelQuery { asked.query }

    var text: Text { Text(language: language.rawValue, text: lines.joined(separator: "\n")) }

    private var lines: [String] {
        switch language {
        case .Swift where query.findNearest != nil:
            ["// Tidemark's API for apps has no vector search."]
        case .Swift: [source] + steps.map { "    " + $0 }
        case .Python: ["query = (", "    " + source] + steps.map { "    " + $0 } + [")"]
        case .JavaScript: javaScript
        }
    }

    private var javaScript: [String] {
        let parts = ([source] + steps).map { "    " + $0 + "," }
        let isNearest = query.findNearest != nil
        // Vector searches use the server's library, which chains its steps.
        if isNearest {
            let chain = steps.map { "    ." + $0 }
            return ["db." + source.replacing("(db, ", with: "(")] + chain
        }
        guard !asked.aggregations.isEmpty else { return ["query("] + parts + [")"] }
        return ["getAggregateFromServer(query("] + parts + ["), {"]
            + asked.aggregations.map { "    " + javaScript($0) + "," } + ["})"]
    }

    private var source: String {
        let group = query.allDescendants
        let name = quote(group ? query.collectionID ?? "" : query.collection?.text ?? "")
        return switch (language, group) {
        case (.Swift, false): "firestore.collection(\(name))"
        case (.Swift, true): "firestore.collectionGroup(\(name))"
        case (.JavaScript, false): "collection(db, \(name))"
        case (.JavaScript, true): "collectionGroup(db, \(name))"
        case (.Python, false): "db.collection(\(name))"
        case (.Python, true): "db.collection_group(\(name))"
        }
    }

    // MARK: Steps

    private var steps: [String] {
        var steps: [String] = []
        switch query.filter {
        case .and(let filters)?: steps += filters.map { condition($0, isInner: false) }
        case let filter?: steps.append(condition(filter, isInner: false))
        case nil: break
        }
        steps += query.orders.map(order)
        if let start = query.start { steps.append(cursor(start, start.before ? 0 : 1)) }
        if let end = query.end { steps.append(cursor(end, end.before ? 2 : 3)) }
        switch query.limit {
        case .first(let count)?:
            steps.append(call("limit(to: ", script: "limit(", python: "limit(", text: "\(count)"))
        case .last(let count)?:
            steps.append(
                call(
                    "limit(toLast: ", script: "limitToLast(", python: "limit_to_last(",
                    text: "\(count)"))
        case nil: break
        }
        if let search = query.findNearest { steps.append(nearest(search)) }
        if language != .JavaScript { steps += asked.aggregations.isEmpty ? [] : [aggregation] }
        return steps
    }

    /// - Parameter text: The text between the parentheses; the opening parenthesis comes from the
    ///   other parameters.
    private func call(_ swift: String, script: String, python: String, text: String) -> String {
        switch language {
        case .Swift: ".\(swift)\(text))"
        case .JavaScript: "\(script)\(text))"
        case .Python: ".\(python)\(text))"
        }
    }

    private func order(_ order: Order) -> String {
        let field = name(order.field)
        let isDown = order.direction == .descending
        let direction =
            switch language {
            case .Swift: isDown ? ", descending: true" : ""
            case .JavaScript: isDown ? ", \"desc\"" : ""
            case .Python: isDown ? ", direction=firestore.Query.DESCENDING" : ""
            }
        return call("order(by: ", script: "orderBy(", python: "order_by(", text: field + direction)
    }

    private func cursor(_ cursor: Cursor, _ which: Int) -> String {
        let names: [(String, String, String)] = [
            ("start(at: ", "startAt(", "start_at("),
            ("start(after: ", "startAfter(", "start_after("),
            ("end(before: ", "endBefore(", "end_before("), ("end(at: ", "endAt(", "end_at("),
        ]
        let values = cursor.values.map(code).joined(separator: ", ")
        let text =
            switch language {
            case .Swift: "[\(values)]"
            case .JavaScript: values
            case .Python: "[\(values)]"
            }
        return call(names[which].0, script: names[which].1, python: names[which].2, text: text)
    }

    private func nearest(_ search: FindNearest) -> String {
        let vector = search.vector.map { "\($0)" }.joined(separator: ", ")
        let field = name(search.field)
        switch language {
        case .Swift: return ""
        case .JavaScript:
            let measure = search.measure.word.uppercased().replacing("-", with: "_")
            return """
                findNearest({vectorField: \(field), queryVector: [\(vector)], \
                limit: \(search.limit), distanceMeasure: "\(measure)"})
                """
        case .Python:
            let measure = search.measure.word.uppercased().replacing("-", with: "_")
            return """
                .find_nearest(\(field), Vector([\(vector)]), \
                distance_measure=DistanceMeasure.\(measure), limit=\(search.limit))
                """
        }
    }

    private var aggregation: String {
        let parts = asked.aggregations.map { aggregation in
            switch (aggregation.operation, language) {
            case (.count, .Swift): "AggregateField.count()"
            case (.sum(let field), .Swift): "AggregateField.sum(\(name(field)))"
            case (.average(let field), .Swift): "AggregateField.average(\(name(field)))"
            case (.count, _): ".count(alias=\(quote(aggregation.alias)))"
            case (.sum(let field), _):
                ".sum(\(name(field)), alias=\(quote(aggregation.alias)))"
            case (.average(let field), _):
                ".avg(\(name(field)), alias=\(quote(aggregation.alias)))"
            }
        }
        return language == .Swift
            ? ".aggregate([\(parts.joined(separator: ", "))])" : parts.joined()
    }

    private func javaScript(_ aggregation: Aggregation) -> String {
        let call =
            switch aggregation.operation {
            case .count: "count()"
            case .sum(let field): "sum(\(name(field)))"
            case .average(let field): "average(\(name(field)))"
            }
        return "\(quote(aggregation.alias)): \(call)"
    }

    // MARK: Conditions

    private func condition(_ filter: ModelFilter, isInner: Bool) -> String {
        switch filter {
        case .and(let filters): return group("and", filters: filters, isInner: isInner)
        case .or(let filters): return group("or", filters: filters, isInner: isInner)
        case .field(let field, let operation, let value):
            return condition(field, operation: operation, value: code(value), isInner: isInner)
        case .unary(let field, let operation):
            let isNegative = operation == .isNotNaN || operation == .isNotNull
            let isNaN = operation == .isNaN || operation == .isNotNaN
            let value: String =
                switch language {
                case .Swift: isNaN ? "Double.nan" : "NSNull()"
                case .JavaScript: isNaN ? "NaN" : "null"
                case .Python: isNaN ? "float(\"nan\")" : "None"
                }
            return condition(
                field, operation: isNegative ? .notEqual : .equal, value: value, isInner: isInner)
        }
    }

    private func condition(
        _ field: FieldPath, operation: ModelFilter.Operator, value: String, isInner: Bool
    ) -> String {
        switch language {
        case .Swift where isInner:
            return "Filter.whereField(\(name(field)), \(operation.label): \(value))"
        case .Swift: return ".whereField(\(name(field)), \(operation.label): \(value))"
        case .JavaScript: return "where(\(name(field)), \"\(operation.sign)\", \(value))"
        case .Python:
            let isNotIn = operation == .notIn
            let sign = isNotIn ? operation.sign : operation.sign.replacing("-", with: "_")
            let made = "FieldFilter(\(name(field)), \"\(sign)\", \(value))"
            return isInner ? made : ".where(filter=\(made))"
        }
    }

    private func group(_ word: String, filters: [ModelFilter], isInner: Bool) -> String {
        let parts = filters.map { condition($0, isInner: true) }.joined(separator: ", ")
        switch language {
        case .Swift:
            let made = "Filter.\(word)Filter([\(parts)])"
            return isInner ? made : ".whereFilter(\(made))"
        case .JavaScript: return "\(word)(\(parts))"
        case .Python:
            let made = "\(word.capitalized)([\(parts)])"
            return isInner ? made : ".where(filter=\(made))"
        }
    }

    // MARK: Values

    private func name(_ field: FieldPath) -> String {
        guard field.isDocumentID else { return quote("\(field)") }
        return switch language {
        case .Swift: "FieldPath.documentID()"
        case .JavaScript: "documentId()"
        case .Python: "\"__name__\""
        }
    }

    private var values: ValueCode { ValueCode(language: language) }
    private func quote(_ text: String) -> String { values.quote(text) }
    private func code(_ value: Value) -> String { values.code(value) }
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
