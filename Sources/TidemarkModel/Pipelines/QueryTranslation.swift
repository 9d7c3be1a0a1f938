extension Pipeline {
    /// Makes the pipeline that reads the same rows as a query, in the form of Google's SDKs.
    ///
    /// The pipeline follows the Enterprise edition: `!=` and `not-in` also match documents without
    /// the field, and cursors compare values of one type.
    ///
    /// - Throws: `INVALID_ARGUMENT` for a query that has no such pipeline: a collection group below
    ///   a document, a recursive scan, or a vector search.
    package init(_ query: Query) throws(RPCStatus) {
        if query.findNearest != nil {
            throw .invalidArgument("A vector search of a query has no pipeline.")
        }
        var stages = [try Self.source(of: query)]
        if let filter = query.filter { stages.append(.where(QueryConditions.condition(filter))) }
        let explicit = query.orders.map(\.field).filter { !$0.isDocumentID }
        if !explicit.isEmpty {
            stages.append(
                .where(QueryConditions.joined("and", explicit.map(QueryConditions.exists))))
        }
        let orders = query.normalizedOrders
        if let start = query.start {
            stages.append(.where(QueryConditions.beyond(start, orders, isStart: true)))
        }
        if let end = query.end {
            stages.append(.where(QueryConditions.beyond(end, orders, isStart: false)))
        }
        stages += Self.cuts(of: query, orders)
        if let projection = query.projection { stages.append(.select(projection)) }
        self.init(stages: stages)
    }

    private static func source(of query: Query) throws(RPCStatus) -> Stage {
        if let collection = query.collection {
            return Stage(name: "collection", arguments: [.reference("/" + collection.text)])
        }
        guard query.parent == nil, let id = query.collectionID else {
            throw .invalidArgument("A scan below a document has no pipeline.")
        }
        return Stage(
            name: "collection_group", arguments: [.reference(""), .constant(.string(id))])
    }

    private static func cuts(of query: Query, _ orders: [Order]) -> [Stage] {
        let limit = query.limit.map { Stage.count("limit", $0.count) }
        if case .last? = query.limit {
            let reversed = orders.map { Order($0.field, $0.direction.flipped) }
            return [.sort(reversed), limit, .sort(orders)].compactMap { $0 }
        }
        let offset = query.offset > 0 ? Stage.count("offset", query.offset) : nil
        return [.sort(orders), offset, limit].compactMap { $0 }
    }
}

extension Pipeline.Stage {
    fileprivate static func `where`(_ condition: Pipeline.Expression) -> Self {
        Self(name: "where", arguments: [condition])
    }

    fileprivate static func count(_ name: String, _ count: Int) -> Self {
        Self(name: name, arguments: [.constant(.integer(Int64(count)))])
    }

    fileprivate static func sort(_ orders: [Order]) -> Self {
        Self(
            name: "sort",
            arguments: orders.map { order in
                let direction = order.direction == .ascending ? "ascending" : "descending"
                return .map([
                    .init(key: "direction", value: .constant(.string(direction))),
                    .init(key: "expression", value: .field(order.field.encoded)),
                ])
            })
    }

    /// Keeps the document beside the fields, as the rows of a query do.
    fileprivate static func select(_ fields: [FieldPath]) -> Self {
        let names = ["__name__", "__create_time__", "__update_time__"]
        let all = names + fields.filter { !$0.isDocumentID }.map(\.encoded)
        return Self(
            name: "select",
            arguments: [.map(all.map { .init(key: $0, value: .field($0)) })])
    }
}

/// The conditions of a query as expressions.
private enum QueryConditions {
    static func joined(
        _ name: String, _ conditions: [Pipeline.Expression]
    ) -> Pipeline.Expression {
        conditions.count == 1 ? conditions[0] : .call(name, conditions)
    }

    static func exists(_ field: FieldPath) -> Pipeline.Expression {
        .call("exists", [.field(field.encoded)])
    }

    static func condition(_ filter: Filter) -> Pipeline.Expression {
        switch filter {
        case .and(let parts): joined("and", parts.map(condition))
        case .or(let parts): joined("or", parts.map(condition))
        case .field(let field, let operation, let value):
            comparison(field, function: function(of: operation), value: value)
        case .unary(let field, let operation):
            switch operation {
            case .isNull: comparison(field, function: "equal", value: .null)
            case .isNaN: comparison(field, function: "equal", value: .double(.nan))
            case .isNotNull: comparison(field, function: "not_equal", value: .null)
            case .isNotNaN: comparison(field, function: "not_equal", value: .double(.nan))
            }
        }
    }

    /// Inequalities of Google's Enterprise edition match documents without the field.
    private static func comparison(
        _ field: FieldPath, function: String, value: Value
    ) -> Pipeline.Expression {
        let call = Pipeline.Expression.call(
            function, [.field(field.encoded), .constant(value)])
        if function.hasPrefix("not_") || field.isDocumentID { return call }
        return .call("and", [exists(field), call])
    }

    /// Returns the condition for rows behind a cursor, or before it.
    static func beyond(
        _ cursor: Cursor, _ orders: [Order], isStart: Bool
    ) -> Pipeline.Expression {
        let isInclusive = cursor.before == isStart
        var result: Pipeline.Expression?
        for (order, value) in zip(orders, cursor.values).reversed() {
            let field = Pipeline.Expression.field(order.field.encoded)
            let isGreater = isStart == (order.direction == .ascending)
            let strict = Pipeline.Expression.call(
                isGreater ? "greater_than" : "less_than", [field, .constant(value)])
            let same = Pipeline.Expression.call("equal", [field, .constant(value)])
            if let rest = result {
                result = .call("or", [strict, .call("and", [same, rest])])
            } else {
                result = isInclusive ? .call("or", [strict, same]) : strict
            }
        }
        return result ?? .constant(.boolean(true))
    }
}

extension QueryConditions {
    /// Returns the function that compares as an operator does.
    private static func function(of operation: Filter.Operator) -> String {
        switch operation {
        case .lessThan: "less_than"
        case .lessThanOrEqual: "less_than_or_equal"
        case .greaterThan: "greater_than"
        case .greaterThanOrEqual: "greater_than_or_equal"
        case .equal: "equal"
        case .notEqual: "not_equal"
        case .arrayContains: "array_contains"
        case .isIn: "equal_any"
        case .arrayContainsAny: "array_contains_any"
        case .notIn: "not_equal_any"
        }
    }
}
