extension Filter {
    /// Whether it says nothing: a composite of nothing, or of composites of nothing. Such a filter is
    /// no filter, wherever it stands (production serves it; clients leave it out).
    public var isVacuous: Bool {
        switch self {
        case .and(let filters), .or(let filters): filters.allSatisfy(\.isVacuous)
        case .field, .unary: false
        }
    }

    /// How many conjunctions ``disjunctiveNormalForm(limit:)`` has; `Int.max` where it is more than
    /// an `Int` holds. Costs a pass over the filter, whatever the answer.
    public var disjunctionCount: Int {
        switch self {
        case .unary: return 1
        case .field(_, .isIn, let operand), .field(_, .arrayContainsAny, let operand):
            return operand.arrayElements.count
        case .field: return 1
        case .and(let filters):
            return filters.reduce(1) { count, filter in
                if filter.isVacuous { return count }
                let (product, overflow) = count.multipliedReportingOverflow(
                    by: filter.disjunctionCount)
                return overflow ? .max : product
            }
        case .or(let filters):
            let parts = filters.filter { !$0.isVacuous }
            if parts.isEmpty { return 1 }
            return parts.reduce(0) { count, filter in
                let (sum, overflow) = count.addingReportingOverflow(filter.disjunctionCount)
                return overflow ? .max : sum
            }
        }
    }

    /// The same filter as an `or` of `and`s of single comparisons.
    ///
    /// `in` becomes one equality for each of its values and `array-contains-any` one
    /// `array-contains`; `not-in` and `!=` stay whole. A vacuous filter is one empty conjunction,
    /// which everything matches; `in` an empty list is no conjunction at all. Repeated conjunctions
    /// are kept, so whoever runs them one by one must drop rows seen before.
    ///
    /// - Returns: Nil when there would be more than `limit` conjunctions: they grow exponentially.
    public func disjunctiveNormalForm(limit: Int) -> [[Filter]]? {
        disjunctionCount <= limit ? expanded() : nil
    }

    private func expanded() -> [[Filter]] {
        switch self {
        case .field(let field, .isIn, let operand):
            return operand.arrayElements.map { [.field(field, .equal, $0)] }
        case .field(let field, .arrayContainsAny, let operand):
            return operand.arrayElements.map { [.field(field, .arrayContains, $0)] }
        case .field, .unary: return [[self]]
        case .and(let filters):
            var result: [[Filter]] = [[]]
            for filter in filters where !filter.isVacuous {
                let alternatives = filter.expanded()
                result = result.flatMap { head in alternatives.map { head + $0 } }
            }
            return result
        case .or(let filters):
            let parts = filters.filter { !$0.isVacuous }
            return parts.isEmpty ? [[]] : parts.flatMap { $0.expanded() }
        }
    }
}
