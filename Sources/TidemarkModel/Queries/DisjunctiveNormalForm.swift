extension Filter {
    /// True if the filter is an empty composite, or a composite of such composites. A vacuous
    /// filter has no effect anywhere: production accepts it, and clients omit it.
    public var isVacuous: Bool {
        switch self {
        case .and(let filters), .or(let filters): filters.allSatisfy(\.isVacuous)
        case .field, .unary: false
        }
    }

    /// The number of conjunctions in ``disjunctiveNormalForm(limit:)``; `Int.max` if the number
    /// exceeds an `Int`. Always costs one pass over the filter.
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

    /// Returns the same filter as an `or` of `and`s of single comparisons.
    ///
    /// `in` becomes one equality for each of its values, and `array-contains-any` one
    /// `array-contains` each; `not-in` and `!=` stay whole. A vacuous filter gives one empty
    /// conjunction, which every row matches. `in` with an empty list gives no conjunction. Repeated
    /// conjunctions are kept: a caller that runs them one by one must drop the rows that it has
    /// seen before.
    ///
    /// - Returns: The conjunctions; nil if there would be more than `limit`, because their number
    ///   grows exponentially.
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
