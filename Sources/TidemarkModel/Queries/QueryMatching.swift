extension Query {
    /// The orders with the implicit ones: the fields of range filters that are not ordered by, by
    /// name, then the document's name, both in the direction of the last explicit order.
    public var normalizedOrders: [Order] {
        var result = orders
        let direction = orders.last?.direction ?? .ascending
        for field in inequalityFields where !result.contains(where: { $0.field == field }) {
            result.append(Order(field, direction))
        }
        if !result.contains(where: { $0.field.isDocumentID }) {
            result.append(Order(.documentID, direction))
        }
        return result
    }

    /// The fields that range filters, `!=` and `not-in` compare, sorted, the document's name last.
    public var inequalityFields: [FieldPath] {
        var fields: Set<FieldPath> = []
        filter?.forEachLeaf { field, isInequality in
            if isInequality { fields.insert(field) }
        }
        return fields.sorted { a, b in
            a.isDocumentID != b.isDocumentID ? b.isDocumentID : a < b
        }
    }

    /// Whether the document is among the query's rows, limit and offset aside.
    ///
    /// - Parameter fields: The document's contents, decoded.
    public func matches(_ path: DocumentPath, _ fields: MapValue, in database: DatabaseID) -> Bool {
        guard contains(path) else { return false }
        let row = QueryRow(path: path, fields: fields, database: database)
        let orders = normalizedOrders
        guard orders.allSatisfy({ row.value(of: $0.field) != nil }) else { return false }
        if let filter, !filter.matches(row) { return false }
        if let start, compare(row, with: start, orders) == .ascending { return false }
        if let end, compare(row, with: end, orders) == .descending { return false }
        return true
    }

    /// Whether the document lies in a collection that the query reads.
    public func contains(_ path: DocumentPath) -> Bool {
        let collection = path.parent
        if let collectionID, !collection.id.hasSameBytes(as: collectionID) { return false }
        guard allDescendants else {
            guard let parent else { return collection.parent == nil }
            return collection.parent == parent
        }
        guard let parent else { return true }
        return path.text.utf8.starts(with: (parent.text + "/").utf8)
    }

    /// The order of two matching documents. Never equal for two paths.
    public func compare(
        _ left: (path: DocumentPath, fields: MapValue),
        _ right: (path: DocumentPath, fields: MapValue), in database: DatabaseID
    ) -> Comparison {
        let a = QueryRow(path: left.path, fields: left.fields, database: database)
        let b = QueryRow(path: right.path, fields: right.fields, database: database)
        for order in normalizedOrders {
            guard let x = a.value(of: order.field), let y = b.value(of: order.field) else {
                preconditionFailure("a row without \(order.field) matched")
            }
            let result = Value.compare(x, y)
            if result != .equal {
                return order.direction == .ascending ? result : result.reversed
            }
        }
        return .equal
    }

    /// On which side of the cursor's edge the row lies; never equal.
    private func compare(_ row: QueryRow, with cursor: Cursor, _ orders: [Order]) -> Comparison {
        for (order, value) in zip(orders, cursor.values) {
            guard let own = row.value(of: order.field) else { return .ascending }
            let result = Value.compare(own, value)
            if result != .equal {
                return order.direction == .ascending ? result : result.reversed
            }
        }
        return cursor.before ? .descending : .ascending
    }

    /// As it goes over the wire: a limit to the last rows becomes one to the first in flipped order.
    public var wireForm: Query {
        guard case .last(let count)? = limit else { return self }
        var result = self
        result.limit = .first(count)
        result.orders = normalizedOrders.map { Order($0.field, $0.direction.flipped) }
        result.start = end.map { Cursor(values: $0.values, before: !$0.before) }
        result.end = start.map { Cursor(values: $0.values, before: !$0.before) }
        return result
    }
}

/// A document as filters and orders see it: its name is one of its fields.
struct QueryRow {
    let path: DocumentPath
    let fields: MapValue
    let database: DatabaseID

    func value(of field: FieldPath) -> Value? {
        if field.isDocumentID {
            return .reference(ReferenceValue(database: database, path: path))
        }
        return fields[field]
    }
}

extension Filter {
    func matches(_ row: QueryRow) -> Bool {
        switch self {
        case .and(let filters): filters.allSatisfy { $0.matches(row) }
        case .or(let filters):
            isVacuous || filters.contains { !$0.isVacuous && $0.matches(row) }
        case .unary(let field, let operation): operation.matches(row.value(of: field))
        case .field(let field, let operation, let operand):
            row.value(of: field).map { operation.matches($0, operand) } ?? false
        }
    }

    /// Visits the comparisons, each with its field and whether it is an inequality.
    package func forEachLeaf(_ visit: (FieldPath, _ isInequality: Bool) -> Void) {
        switch self {
        case .and(let filters), .or(let filters):
            for filter in filters { filter.forEachLeaf(visit) }
        case .field(let field, let operation, _): visit(field, operation.isInequality)
        case .unary(let field, let operation):
            visit(field, operation == .isNotNaN || operation == .isNotNull)
        }
    }
}

extension Filter.Operator {
    public var isInequality: Bool {
        switch self {
        case .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual, .notEqual, .notIn: true
        case .equal, .arrayContains, .isIn, .arrayContainsAny: false
        }
    }

    /// Null and NaN are matched by unary filters only: a comparison with one of them finds nothing.
    func matches(_ value: Value, _ operand: Value) -> Bool {
        switch self {
        case .lessThan: isComparable(value, operand) && Value.compare(value, operand) == .ascending
        case .lessThanOrEqual:
            isComparable(value, operand) && Value.compare(value, operand) != .descending
        case .greaterThan:
            isComparable(value, operand) && Value.compare(value, operand) == .descending
        case .greaterThanOrEqual:
            isComparable(value, operand) && Value.compare(value, operand) != .ascending
        case .equal: operand.isMatchable && value.isEquivalent(to: operand)
        case .notEqual:
            operand.isMatchable && value != .null && !value.isEquivalent(to: operand)
        case .arrayContains: operand.isMatchable && value.containsElement(operand)
        case .isIn: operand.arrayElements.contains { $0.isMatchable && value.isEquivalent(to: $0) }
        case .arrayContainsAny:
            operand.arrayElements.contains { $0.isMatchable && value.containsElement($0) }
        case .notIn:
            value != .null && !operand.arrayElements.contains { $0 == .null }
                && !operand.arrayElements.contains { $0.isMatchable && value.isEquivalent(to: $0) }
        }
    }

    private func isComparable(_ value: Value, _ operand: Value) -> Bool {
        value.typeRank == operand.typeRank && operand.isMatchable && !value.isNaN
    }
}

extension Filter.UnaryOperator {
    func matches(_ value: Value?) -> Bool {
        guard let value else { return false }
        return switch self {
        case .isNull: value == .null
        case .isNotNull: value != .null
        case .isNaN: value.isNaN
        case .isNotNaN: value != .null && !value.isNaN
        }
    }
}

extension Value {
    public var isNaN: Bool {
        if case .double(let value) = self { value.isNaN } else { false }
    }

    /// Whether a comparison with this operand can find anything.
    fileprivate var isMatchable: Bool { self != .null && !isNaN }

    fileprivate func containsElement(_ operand: Value) -> Bool {
        arrayElements.contains { $0.isEquivalent(to: operand) }
    }
}
