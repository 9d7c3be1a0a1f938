import TidemarkModel
package import TidemarkServer

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
            Self.sentence(of: request.query, request.aggregations)
        case .partitionQuery(let request): request.query.sentence
        case .executePipeline(let request): request.pipeline?.sentence ?? "no pipeline"
        case .listCollectionIDs(let request):
            "collections of " + (request.parent?.text ?? "the root")
        case .beginTransaction: "a transaction"
        case .rollback: "a transaction's end"
        }
    }

    static func sentence(of query: Query, _ aggregations: [Aggregation]) -> String {
        if aggregations.isEmpty { return query.sentence }
        return aggregations.map(\.sentence).joined(separator: ", ") + " of " + query.sentence
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
        var parts = [sourceText] + QueryWords.literal.conditions(of: self)
        switch limit {
        case .first(let count)?: parts.append("limit \(count)")
        case .last(let count)?: parts.append("last \(count)")
        case nil: break
        }
        if offset > 0 { parts.append("offset \(offset)") }
        if let nearest = QueryWords.literal.nearest(of: self), let findNearest {
            parts.append("\(nearest) limit \(findNearest.limit)")
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

extension QueryWords {
    /// Writes values in the form of the query bar.
    fileprivate static var literal: QueryWords {
        QueryWords(value: { QueryLiteral.text($0) }, values: { QueryLiteral.text($0) })
    }
}

extension ReadSubject.Asked {
    /// The subject in one line, with its values.
    package var sentence: String {
        switch self {
        case .query(let query, let aggregations):
            Request.sentence(of: query, aggregations)
        case .documents(let path): path.text
        case .place(let name): name
        }
    }
}

/// The protocol's query and filter, for files that also import the client's types with these names.
typealias ModelQuery = Query
typealias ModelFilter = Filter
