import TidemarkModel
import TidemarkServer

extension Request {
    /// The request in one line: a path, a query, or a number.
    var sentence: String {
        switch self {
        case .getDocument(let request): request.path.text
        case .listDocuments(let request):
            (request.parent.map { $0.text + "/" } ?? "") + (request.collectionID ?? "*")
        case .createDocument(let request):
            request.collection.text + "/" + (request.documentID ?? "(new)")
        case .updateDocument(let request): request.path.text
        case .deleteDocument(let path, _): path.text
        case .batchGetDocuments(let request): Self.sentence(request.paths.map(\.text))
        case .commit(let request): Self.sentence(request.mutations.map(\.path.text))
        case .batchWrite(let request): Self.sentence(request.mutations.map(\.path.text))
        case .runQuery(let request): request.query.sentence
        case .runAggregationQuery(let request):
            request.aggregations.map(\.sentence).joined(separator: ", ") + " of "
                + request.query.sentence
        case .partitionQuery(let request): request.query.sentence
        case .listCollectionIDs(let request):
            "collections of " + (request.parent?.text ?? "the root")
        case .beginTransaction: "a transaction"
        case .rollback: "a transaction's end"
        }
    }

    private static func sentence(_ paths: [String]) -> String {
        guard let first = paths.first else { return "nothing" }
        return paths.count == 1 ? first : "\(first) and \(paths.count - 1) more"
    }
}

extension ListenTarget.Kind {
    var sentence: String {
        switch self {
        case .query(let query): query.sentence
        case .documents(let paths):
            paths.count == 1
                ? paths[0].text : "\(paths.first?.text ?? "nothing"), \(paths.count) documents"
        }
    }
}

extension Aggregation {
    fileprivate var sentence: String {
        switch operation {
        case .count(let limit): limit.map { "count up to \($0)" } ?? "count"
        case .sum(let field): "sum of \(field)"
        case .average(let field): "average of \(field)"
        }
    }
}

extension Query {
    /// The query in one line, in the form of the query bar:
    /// `rooms/blue/messages where n >= 3 order by n desc limit 50`.
    var sentence: String {
        var parts = [sourceText]
        if let filter { parts.append("where \(filter.sentence)") }
        if !orders.isEmpty {
            let texts = orders.map { "\($0.field)" + ($0.direction == .descending ? " desc" : "") }
            parts.append("order by " + texts.joined(separator: ", "))
        }
        if let start {
            parts.append(
                "start \(start.before ? "at" : "after") \(QueryLiteral.text(start.values))")
        }
        if let end {
            parts.append("end \(end.before ? "before" : "at") \(QueryLiteral.text(end.values))")
        }
        switch limit {
        case .first(let count)?: parts.append("limit \(count)")
        case .last(let count)?: parts.append("last \(count)")
        case nil: break
        }
        if offset > 0 { parts.append("offset \(offset)") }
        if let findNearest {
            let vector = QueryLiteral.text(findNearest.vector.map { .double($0) })
            parts.append(
                "nearest \(findNearest.field) to \(vector) by \(findNearest.measure.word)"
                    + " limit \(findNearest.limit)")
        }
        return parts.joined(separator: " ")
    }

    /// The collection, or `**/` and the id of a group.
    private var sourceText: String {
        guard allDescendants, let collectionID else { return collection?.text ?? meterTarget }
        return (parent.map { $0.text + "/" } ?? "") + "**/" + collectionID
    }

    /// True if the answer grows with the collection: there is neither a limit nor a filter or
    /// cursor.
    var isUnbounded: Bool { limit == nil && filter == nil && start == nil && end == nil }
}

extension Filter {
    var sentence: String {
        switch self {
        case .field(let field, let operation, let value):
            "\(field) \(operation.sign) \(QueryLiteral.text(value))"
        case .unary(let field, let operation): "\(field) \(operation.sign)"
        case .and(let filters): filters.map(\.inner).joined(separator: " and ")
        case .or(let filters): filters.map(\.inner).joined(separator: " or ")
        }
    }

    private var inner: String {
        switch self {
        case .field, .unary: sentence
        case .and, .or: "(\(sentence))"
        }
    }
}

extension Filter.Operator {
    /// The sign in the query bar.
    var sign: String {
        switch self {
        case .lessThan: "<"
        case .lessThanOrEqual: "<="
        case .greaterThan: ">"
        case .greaterThanOrEqual: ">="
        case .equal: "=="
        case .notEqual: "!="
        case .arrayContains: "array-contains"
        case .isIn: "in"
        case .arrayContainsAny: "array-contains-any"
        case .notIn: "not-in"
        }
    }
}

extension Filter.UnaryOperator {
    var sign: String {
        switch self {
        case .isNaN: "is NaN"
        case .isNull: "is null"
        case .isNotNaN: "is not NaN"
        case .isNotNull: "is not null"
        }
    }
}

/// The protocol's query and filter, for files that also import the client's types with these names.
typealias ModelQuery = Query
typealias ModelFilter = Filter
