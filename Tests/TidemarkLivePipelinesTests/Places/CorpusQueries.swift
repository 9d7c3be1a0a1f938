import Foundation
import TestSupport
import Tidemark

@testable import TidemarkREST

/// The queries of the corpora that Google's clients share.
enum CorpusQueries {
    static let conformance = SharedCorpus.conformance(tests: "queries of the shared cases")
    static let specs = SharedCorpus(
        "spec-tests", variable: "TIDEMARK_SPECS", tests: "queries of the shared scripts")

    /// A query and the file that it is from.
    struct Named: Sendable {
        let file: String
        let query: QueryValue
    }

    private static func json(_ file: String, of corpus: SharedCorpus) throws -> Any {
        let url = corpus.folder.appendingPathComponent(file)
        // The references of the cases name a project.
        let text = try String(contentsOf: url, encoding: .utf8)
            .replacing("projects/projectID/", with: "projects/\(PlaceRounds.database.project)/")
        return try JSONSerialization.jsonObject(with: Data(text.utf8))
    }

    /// Returns the `StructuredQuery` of each shared case that has one.
    static func ofConformance() throws -> [Named] {
        var queries: [Named] = []
        for file in try conformance.files() {
            let tests = (try json(file, of: conformance) as? [String: Any])?["tests"]
            for test in tests as? [[String: Any]] ?? [] {
                guard let body = test["query"] as? [String: Any],
                    var query = body["query"] as? [String: Any]
                else { continue }
                // The cases wrap this number in an object. Protobuf's JSON has the number itself.
                if let limit = query["limit"] as? [String: Any] { query["limit"] = limit["value"] }
                queries.append(Named(file: file, query: try structured(query)))
            }
        }
        return queries
    }

    private static func structured(_ json: [String: Any]) throws -> QueryValue {
        let body = try JSONSerialization.data(withJSONObject: ["structuredQuery": json])
        let database = PlaceRounds.database
        let request = RESTRequest(
            method: "POST",
            path: "/v1/projects/\(database.project)/databases/(default)/documents:runQuery",
            body: [UInt8](body))
        let call = try RESTCall(request, try RESTCall.route(of: request))
        guard case .runQuery(let run) = call.request else {
            throw RPCStatus(.internal, "not a query")
        }
        return run.query
    }

    /// Returns each different query of a collection in the shared scripts.
    static func ofSpecs() throws -> [Named] {
        var (queries, seen): ([Named], Set<QueryValue>) = ([], [])
        for file in try specs.files() {
            for query in found(in: try json(file, of: specs)) where seen.insert(query).inserted {
                queries.append(Named(file: file, query: query))
            }
        }
        return queries
    }

    private static func found(in json: Any) -> [QueryValue] {
        if let list = json as? [Any] { return list.flatMap(found) }
        guard let object = json as? [String: Any] else { return [] }
        if object["filters"] is [Any], object["orderBys"] is [Any] {
            return query(object).map { [$0] } ?? []
        }
        return object.keys.sorted().flatMap { found(in: object[$0]!) }
    }

    private static let operators: [String: FilterValue.Operator] = [
        "==": .equal, "<": .lessThan, "<=": .lessThanOrEqual, ">": .greaterThan,
        ">=": .greaterThanOrEqual, "array-contains": .arrayContains, "!=": .notEqual,
    ]

    /// Returns nil for the query of one document.
    private static func query(_ json: [String: Any]) -> QueryValue? {
        var query: QueryValue
        if let group = json["collectionGroup"] as? String {
            query = QueryValue(collectionID: group, allDescendants: true)
        } else {
            guard let path = json["path"] as? String, let collection = try? CollectionPath(path)
            else { return nil }
            query = QueryValue(collection: collection)
        }
        let filters = (json["filters"] as? [[Any]] ?? []).map { parts in
            FilterValue.field(
                try! FieldPath(encoded: parts[0] as! String), operators[parts[1] as! String]!,
                value(parts[2]))
        }
        query.filter = filters.count > 1 ? .and(filters) : filters.first
        query.orders = (json["orderBys"] as? [[String]] ?? []).map { parts in
            Order(
                try! FieldPath(encoded: parts[0]), parts[1] == "desc" ? .descending : .ascending)
        }
        if let limit = json["limit"] as? Int {
            query.limit =
                json["limitType"] as? String == "LimitToLast" ? .last(limit) : .first(limit)
        }
        return query
    }

    private static func value(_ number: NSNumber) -> Value {
        switch String(cString: number.objCType) {
        case "c", "B": .boolean(number.boolValue)
        case "d", "f": .double(number.doubleValue)
        default: .integer(number.int64Value)
        }
    }

    private static func value(_ json: Any) -> Value {
        switch json {
        case let text as String: .string(text)
        case let list as [Any]: .array(list.map(value))
        case let number as NSNumber: value(number)
        default: .null
        }
    }
}
