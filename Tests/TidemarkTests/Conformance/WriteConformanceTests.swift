import Foundation
import Testing
import TestSupport
import TidemarkServer

@testable import Tidemark

private let isShared = ConformanceCase.corpus.isPlayed

/// Tests the cases that Google's clients share: an app's data, and the expected request.
@Suite(.enabled(if: isShared, "the shared conformance cases are not beside the repository"))
struct `Writes say what the shared conformance cases say` {
    /// Compares the result of `translate` with the expected one. Both are sorted, because the order
    /// has no meaning.
    private func check(
        _ prefix: String, _ kind: String, count: Int,
        _ translate: (JSON, DocumentPath) throws -> Mutation
    ) throws {
        var checked = 0
        for (name, json) in try ConformanceCase.named(prefix) {
            guard let test = json[kind], test["precondition"] == nil else { continue }
            checked += 1
            let path = try ConformanceCase.document(test["docRefPath"]?.text ?? "")
            let made = Result { try translate(test, path) }
            if test["isError"]?.isTrue == true {
                #expect(throws: FirestoreError.self, "\(name)") { try made.get() }
                continue
            }
            let expected = try ConformanceCase.mutation(try #require(test["request"]))
            let actual = try made.get()
            #expect(sorted(actual) == sorted(try #require(expected)), "\(name)")
        }
        #expect(checked == count, "the cases have moved: \(checked)")
    }

    private func sorted(_ mutation: Mutation) -> Mutation {
        var mutation = mutation
        mutation.transforms.sort { $0.field < $1.field }
        if case .patch(let fields, let mask) = mutation.operation {
            mutation.operation = .patch(fields, mask: mask.sorted())
        }
        return mutation
    }

    @Test func `and none of the cases is missing`() throws {
        #expect(try ConformanceCase.corpus.files().count == 196, "the cases have moved")
    }

    @Test func create() throws {
        try check("create", "create", count: 26) { test, path in
            var mutation = try WriteTranslation.set(path, try ConformanceCase.data(test))
            mutation.precondition = .exists(false)
            return mutation
        }
    }

    @Test func set() throws {
        try check("set", "set", count: 44) { test, path in
            let data = try ConformanceCase.data(test)
            guard let option = test["option"] else { return try WriteTranslation.set(path, data) }
            if option["all"]?.isTrue == true { return try WriteTranslation.merge(path, data) }
            let fields = (option["fields"]?.array ?? []).map(ConformanceCase.fieldPath)
            return try WriteTranslation.merge(path, data, fields: fields)
        }
    }

    @Test func update() throws {
        try check("update", "update", count: 35) { test, path in
            let data = try ConformanceCase.data(test)
            return try WriteTranslation.update(
                path, data.map { ($0.key as any FieldName, $0.value) })
        }
    }

    @Test func `update of field paths`() throws {
        try check("update-paths", "updatePaths", count: 33) { test, path in
            let names = (test["fieldPaths"]?.array ?? []).map(ConformanceCase.fieldPath)
            let values = try (test["jsonValues"]?.array ?? []).map {
                ConformanceCase.any(try JSON($0.text ?? ""))
            }
            return try WriteTranslation.update(path, zip(names, values).map { ($0, $1) })
        }
    }
}

/// Tests the queries. Cases with clauses that FirebaseFirestore lacks (projection, offset) are left
/// out.
@Suite(.enabled(if: isShared, "the shared conformance cases are not beside the repository"))
struct `Queries say what the shared conformance cases say` {
    @Test func query() throws {
        let firestore = try Firestore.testing(Unconnected())
        var checked = 0
        for (name, json) in try ConformanceCase.named("query") {
            guard let test = json["query"], let clauses = test["clauses"]?.array,
                clauses.allSatisfy({ $0["select"] == nil && $0["offset"] == nil })
            else { continue }
            let path = (test["collPath"]?.text ?? "").components(separatedBy: "/documents/")[1]
            var query: Tidemark.Query? = firestore.collection(path)
            for clause in clauses { query = try query.flatMap { try apply(clause, to: $0) } }
            // The API has no name for this operator.
            guard let query else { continue }
            checked += 1
            if test["isError"]?.isTrue == true {
                #expect(throws: FirestoreError.self, "\(name)") { try query.runnable() }
            } else {
                let expected = try expected(try #require(test["query"]), path)
                #expect(try query.runnable() == expected, "\(name)")
            }
        }
        #expect(checked == 33, "the cases have moved: \(checked)")
    }

    private func apply(_ clause: JSON, to query: Tidemark.Query) throws -> Tidemark.Query? {
        if let condition = clause["where"] {
            let field = ConformanceCase.fieldPath(condition["path"] ?? .null)
            let value = ConformanceCase.any(try JSON(condition["jsonValue"]?.text ?? "null"))
            switch condition["op"]?.text {
            case "==": return query.whereField(field, isEqualTo: value)
            case "<": return query.whereField(field, isLessThan: value)
            case "<=": return query.whereField(field, isLessThanOrEqualTo: value)
            case ">": return query.whereField(field, isGreaterThan: value)
            case ">=": return query.whereField(field, isGreaterThanOrEqualTo: value)
            default: return nil
            }
        }
        if let order = clause["orderBy"] {
            return query.order(
                by: ConformanceCase.fieldPath(order["path"] ?? .null),
                descending: order["direction"]?.text == "desc")
        }
        if let limit = clause["limit"]?.integer { return query.limit(to: limit) }
        for (name, cursor) in cursors {
            if let place = clause[name] { return try cursor(query, try self.place(place, query)) }
        }
        return nil
    }

    private enum Place {
        case values([Any])
        case document(DocumentSnapshot)
    }

    private func place(_ json: JSON, _ query: Tidemark.Query) throws -> Place {
        guard let document = json["docSnapshot"] else {
            return .values(
                try (json["jsonValues"]?.array ?? []).map {
                    ConformanceCase.any(try JSON($0.text ?? ""))
                })
        }
        let path = try ConformanceCase.document(document["path"]?.text ?? "")
        let fields = try ValueParser.fields(try ConformanceCase.data(document)).fields
        let view = ViewDocument(
            Document(path: path, fields: fields, createTime: .epoch, updateTime: .epoch))
        return .document(
            DocumentSnapshot(
                query.firestore.document(path.text), path: path, view: view,
                freshness: .fresh(readTime: .epoch), readTime: .epoch))
    }

    private var cursors: [(String, (Tidemark.Query, Place) throws -> Tidemark.Query)] {
        [
            (
                "startAt",
                { query, place in
                    switch place {
                    case .values(let values): query.start(at: values)
                    case .document(let document): query.start(atDocument: document)
                    }
                }
            ),
            (
                "startAfter",
                { query, place in
                    switch place {
                    case .values(let values): query.start(after: values)
                    case .document(let document): query.start(afterDocument: document)
                    }
                }
            ),
            (
                "endBefore",
                { query, place in
                    switch place {
                    case .values(let values): query.end(before: values)
                    case .document(let document): query.end(beforeDocument: document)
                    }
                }
            ),
            (
                "endAt",
                { query, place in
                    switch place {
                    case .values(let values): query.end(at: values)
                    case .document(let document): query.end(atDocument: document)
                    }
                }
            ),
        ]
    }

    private func expected(_ json: JSON, _ path: String) throws -> QueryValue {
        var query = QueryValue(collection: try CollectionPath(path))
        query.filter = try json["where"].map(filter)
        query.orders = try (json["orderBy"]?.array ?? []).map { order in
            Order(
                try FieldPath(encoded: order["field"]?["fieldPath"]?.text ?? ""),
                order["direction"]?.text == "DESCENDING" ? .descending : .ascending)
        }
        query.start = try json["startAt"].map(cursor)
        query.end = try json["endAt"].map(cursor)
        query.limit = json["limit"].flatMap { $0["value"]?.integer ?? $0.integer }
            .map { .first($0) }
        return query
    }

    private func cursor(_ json: JSON) throws -> Cursor {
        Cursor(
            values: try (json["values"]?.array ?? []).map(ConformanceCase.value),
            before: json["before"]?.isTrue == true)
    }

    private func filter(_ json: JSON) throws -> FilterValue {
        if let composite = json["compositeFilter"] {
            return .and(try (composite["filters"]?.array ?? []).map(filter))
        }
        if let unary = json["unaryFilter"] {
            let field = try FieldPath(encoded: unary["field"]?["fieldPath"]?.text ?? "")
            return .unary(field, unary["op"]?.text == "IS_NAN" ? .isNaN : .isNull)
        }
        let field = try FieldPath(encoded: json["fieldFilter"]?["field"]?["fieldPath"]?.text ?? "")
        let operators: [String: FilterValue.Operator] = [
            "EQUAL": .equal, "LESS_THAN": .lessThan, "LESS_THAN_OR_EQUAL": .lessThanOrEqual,
            "GREATER_THAN": .greaterThan, "GREATER_THAN_OR_EQUAL": .greaterThanOrEqual,
        ]
        let name = json["fieldFilter"]?["op"]?.text ?? ""
        guard let operation = operators[name] else { throw FirestoreError.invalidArgument(name) }
        let value = try ConformanceCase.value(json["fieldFilter"]?["value"] ?? .null)
        return .field(field, operation, value)
    }
}
