extension Filter {
    func matches(_ row: QueryRow<some FieldSource>) -> Bool {
        switch self {
        case .and(let filters): filters.allSatisfy { $0.matches(row) }
        case .or(let filters):
            isVacuous || filters.contains { !$0.isVacuous && $0.matches(row) }
        case .unary(let field, let operation): operation.matches(row.value(of: field))
        // Compares the encoded bytes: making a `String` of each document's field took half of the
        // test's time.
        case .field(let field, .equal, .string(let text)) where !field.isDocumentID:
            row.fields.holds(text: text, at: field)
        case .field(let field, let operation, let operand):
            row.value(of: field).map { operation.matches($0, operand) } ?? false
        }
    }

    /// Calls `visit` for each comparison, with its field and whether the comparison is an
    /// inequality.
    package func forEachLeaf(_ visit: (FieldPath, _ isInequality: Bool) -> Void) {
        switch self {
        case .and(let filters), .or(let filters):
            for filter in filters { filter.forEachLeaf(visit) }
        case .field(let field, let operation, _): visit(field, operation.isInequality)
        case .unary(let field, let operation):
            visit(field, operation == .isNotNaN || operation == .isNotNull)
        }
    }

    /// Adds the fields of range comparisons to `fields`.
    func collectRangeFields(_ fields: inout Set<FieldPath>) {
        switch self {
        case .and(let filters), .or(let filters):
            for filter in filters { filter.collectRangeFields(&fields) }
        case .field(let field, let operation, _):
            if field.isDocumentID || operation.isInequality { fields.insert(field) }
        case .unary(let field, .isNotNaN), .unary(let field, .isNotNull): fields.insert(field)
        case .unary: break
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

    /// Only unary filters match null and NaN: a comparison with one of them matches nothing.
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
                && !operand.arrayElements.contains { value.isEquivalent(to: $0) }
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
