extension Query {
    /// Whether the query's index entries are billed beside its documents: more than one of its fields
    /// is a range. A field that is ordered by counts as a range where there is another; `__name__`
    /// does whatever it is compared by, but not where it only ends the order: it ends every order,
    /// said or not.
    package var hasSeveralRangeFields: Bool {
        var fields: Set<FieldPath> = []
        filter?.collectRangeFields(&fields)
        if fields.isEmpty { return false }
        for order in orders where !order.field.isDocumentID { fields.insert(order.field) }
        return fields.count > 1
    }
}

extension Filter {
    fileprivate func collectRangeFields(_ fields: inout Set<FieldPath>) {
        switch self {
        case .and(let filters), .or(let filters):
            for filter in filters { filter.collectRangeFields(&fields) }
        case .field(let field, let operation, _):
            if field.isDocumentID || operation.isRange { fields.insert(field) }
        case .unary(let field, .isNotNaN), .unary(let field, .isNotNull): fields.insert(field)
        case .unary: break
        }
    }
}

extension Filter.Operator {
    fileprivate var isRange: Bool {
        switch self {
        case .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual, .notEqual, .notIn: true
        case .equal, .arrayContains, .isIn, .arrayContainsAny: false
        }
    }
}
