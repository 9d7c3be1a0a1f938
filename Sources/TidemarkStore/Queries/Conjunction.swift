import TidemarkModel

/// An alternative of a filter: comparisons that must all hold, sorted by the way in which an index
/// can use them.
struct Conjunction {
    struct Fixed {
        let field: FieldPath
        let key: [UInt8]
    }

    struct Interval {
        let field: FieldPath
        let lower: Cut
        let upper: Cut
    }

    struct NameBound {
        let reference: Value
        let operation: Filter.Operator
    }

    /// The fields with one value in all rows, without duplicates.
    private(set) var fixed: [Fixed] = []
    private(set) var contains: [Fixed] = []
    private(set) var intervals: [Interval] = []
    private(set) var nameBounds: [NameBound] = []
    /// The only document that can match.
    private(set) var path: DocumentPath?
    let comparisons: [Filter]
    /// True if a comparison says more than the properties above.
    private(set) var hasRemainder = false
    /// True if nothing can match.
    private(set) var isEmpty = false

    init(_ comparisons: [Filter], in database: DatabaseID) {
        self.comparisons = comparisons
        for comparison in comparisons {
            switch comparison {
            case .and, .or: hasRemainder = true
            case .unary(let field, let operation): add(field, operation)
            case .field(let field, let operation, let operand):
                if field.isDocumentID {
                    addName(operation, operand: operand, database: database)
                } else {
                    add(field, operation: operation, operand: operand)
                }
            }
        }
        dropIntervalsOfFixed()
    }

    func fixedKey(_ field: FieldPath) -> [UInt8]? { fixed.first { $0.field == field }?.key }

    /// The fields that every row has because of these comparisons.
    var fields: [FieldPath] {
        fixed.map(\.field) + contains.map(\.field) + intervals.map(\.field)
    }

    private mutating func fix(_ field: FieldPath, _ key: [UInt8]) {
        guard let known = fixedKey(field) else {
            return fixed.append(Fixed(field: field, key: key))
        }
        if known != key { isEmpty = true }
    }

    private mutating func add(_ field: FieldPath, _ operation: Filter.UnaryOperator) {
        if field.isDocumentID {
            // A name is neither null nor NaN.
            if operation == .isNull || operation == .isNaN { isEmpty = true }
            return
        }
        switch operation {
        case .isNull: fix(field, KeyWriter.null)
        case .isNaN: fix(field, KeyWriter.nan)
        case .isNotNull: addNotNull(field)
        case .isNotNaN:
            addNotNull(field)
            hasRemainder = true
        }
    }

    private mutating func addNotNull(_ field: FieldPath) {
        intervals.append(
            Interval(field: field, lower: .after(KeyWriter.null), upper: .after([])))
    }

    private mutating func add(
        _ field: FieldPath, operation: Filter.Operator, operand: Value
    ) {
        switch operation {
        case .equal:
            guard operand.isSearchable else { return isEmpty = true }
            fix(field, KeyWriter.key(of: operand))
        case .arrayContains:
            guard operand.isSearchable else { return isEmpty = true }
            contains.append(Fixed(field: field, key: KeyWriter.key(of: operand)))
        case .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual:
            guard let (lower, upper) = operation.cuts(operand) else { return isEmpty = true }
            intervals.append(Interval(field: field, lower: lower, upper: upper))
        case .notEqual, .notIn:
            addNotNull(field)
            hasRemainder = true
        case .isIn, .arrayContainsAny: hasRemainder = true
        }
    }

    private mutating func addName(
        _ operation: Filter.Operator, operand: Value, database: DatabaseID
    ) {
        switch operation {
        case .equal:
            guard case .reference(let reference) = operand, reference.database == database,
                path == nil || path == reference.path
            else { return isEmpty = true }
            path = reference.path
        case .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual:
            guard case .reference = operand else { return isEmpty = true }
            nameBounds.append(NameBound(reference: operand, operation: operation))
        case .arrayContains, .arrayContainsAny: isEmpty = true
        case .notEqual, .notIn, .isIn: hasRemainder = true
        }
    }

    private mutating func dropIntervalsOfFixed() {
        let all = intervals
        intervals = []
        for interval in all {
            guard let key = fixedKey(interval.field) else {
                intervals.append(interval)
                continue
            }
            if !KeyRange(from: interval.lower, to: interval.upper).contains(key) { isEmpty = true }
        }
    }
}

extension Conjunction {
    /// The maximum number of alternatives. Beyond it a query is run by a scan, because each
    /// alternative needs its own range.
    private static let maxAlternatives = 100

    /// Returns the alternatives of a filter that can match, without duplicates; nil if there are
    /// too many.
    static func alternatives(of filter: Filter?, in database: DatabaseID) -> [Conjunction]? {
        guard let filter else { return [Conjunction([], in: database)] }
        guard let forms = filter.disjunctiveNormalForm(limit: maxAlternatives) else { return nil }
        if forms.count == 1 {
            let only = Conjunction(forms[0], in: database)
            return only.isEmpty ? [] : [only]
        }
        var seen: Set<[Filter]> = []
        return forms.filter { seen.insert($0).inserted }.map { Conjunction($0, in: database) }
            .filter { !$0.isEmpty }
    }
}
