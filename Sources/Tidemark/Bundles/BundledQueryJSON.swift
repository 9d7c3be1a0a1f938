import Foundation

/// A query in the form of bundles: the JSON of the protobuf message, and the end to which a limit
/// applies.
struct BundledQueryJSON: Decodable {
    let parent: String
    let structuredQuery: StructuredQueryJSON
    let limitType: String?

    func query(of database: DatabaseID) throws(FirestoreError) -> QueryValue {
        guard let name = try? ResourceName(parent), name.database == database else {
            throw .invalidArgument("A query of the bundle belongs to another database: \(parent).")
        }
        do {
            var query = try structuredQuery.query(below: name.document)
            if limitType == "LAST", case .first(let count)? = query.limit {
                query.limit = .last(count)
            }
            return query
        } catch {
            throw .invalidArgument("A query of the bundle cannot be read: \(error)")
        }
    }
}

struct StructuredQueryJSON: Decodable {
    struct Source: Decodable {
        let collectionId: String?
        let allDescendants: Bool?
    }
    struct FieldJSON: Decodable {
        let fieldPath: String
        func path() throws -> FieldPath { try FieldPath(encoded: fieldPath) }
    }
    struct OrderJSON: Decodable {
        let field: FieldJSON
        let direction: String?
    }
    struct CursorJSON: Decodable {
        let values: [ValueJSON]?
        let before: Bool?
        var cursor: Cursor { Cursor(values: (values ?? []).map(\.value), before: before ?? false) }
    }
    struct Projection: Decodable { let fields: [FieldJSON]? }
    /// A number, or a message around one.
    struct LimitJSON: Decodable {
        let value: Int

        private struct Wrapped: Decodable { let value: Int }

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let value = try? container.decode(Int.self) {
                self.value = value
            } else {
                value = try container.decode(Wrapped.self).value
            }
        }
    }

    let select: Projection?
    let from: [Source]?
    let `where`: FilterJSON?
    let orderBy: [OrderJSON]?
    let startAt: CursorJSON?
    let endAt: CursorJSON?
    let offset: Int?
    let limit: LimitJSON?

    fileprivate func query(below parent: DocumentPath?) throws -> QueryValue {
        guard let source = from?.first, from?.count == 1, let id = source.collectionId else {
            throw FirestoreError.invalidArgument("not of one collection")
        }
        guard (offset ?? 0) == 0, (limit?.value ?? 0) >= 0 else {
            throw FirestoreError.invalidArgument("an offset, or a negative limit")
        }
        var query = QueryValue(
            parent: parent, collectionID: id, allDescendants: source.allDescendants ?? false)
        query.filter = try `where`?.filter()
        query.orders = try (orderBy ?? []).map { order in
            Order(
                try order.field.path(), order.direction == "DESCENDING" ? .descending : .ascending)
        }
        query.start = startAt?.cursor
        query.end = endAt?.cursor
        query.limit = limit.map { .first($0.value) }
        query.projection = try select?.fields?.map { try $0.path() }
        return query
    }
}

struct FilterJSON: Decodable {
    struct Composite: Decodable {
        let op: String
        let filters: [FilterJSON]?
    }
    struct Single: Decodable {
        let field: StructuredQueryJSON.FieldJSON
        let op: String
        let value: ValueJSON
    }
    struct Unary: Decodable {
        let field: StructuredQueryJSON.FieldJSON
        let op: String
    }

    let compositeFilter: Composite?
    let fieldFilter: Single?
    let unaryFilter: Unary?

    fileprivate func filter() throws -> FilterValue {
        if let composite = compositeFilter {
            let parts = try (composite.filters ?? []).map { try $0.filter() }
            switch composite.op {
            case "AND": return .and(parts)
            case "OR": return .or(parts)
            default: break
            }
        } else if let single = fieldFilter, let operation = Self.operators[single.op] {
            return .field(try single.field.path(), operation, single.value.value)
        } else if let unary = unaryFilter, let operation = Self.unaryOperators[unary.op] {
            return .unary(try unary.field.path(), operation)
        }
        throw FirestoreError.invalidArgument("a filter of an unknown kind")
    }

    private static let operators: [String: FilterValue.Operator] = [
        "LESS_THAN": .lessThan, "LESS_THAN_OR_EQUAL": .lessThanOrEqual,
        "GREATER_THAN": .greaterThan, "GREATER_THAN_OR_EQUAL": .greaterThanOrEqual,
        "EQUAL": .equal, "NOT_EQUAL": .notEqual, "ARRAY_CONTAINS": .arrayContains, "IN": .isIn,
        "ARRAY_CONTAINS_ANY": .arrayContainsAny, "NOT_IN": .notIn,
    ]
    private static let unaryOperators: [String: FilterValue.UnaryOperator] = [
        "IS_NAN": .isNaN, "IS_NULL": .isNull, "IS_NOT_NAN": .isNotNaN, "IS_NOT_NULL": .isNotNull,
    ]
}
