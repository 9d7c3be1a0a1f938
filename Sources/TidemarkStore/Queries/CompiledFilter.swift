import TidemarkModel

/// A filter as tests on keys. So "equal" and "less" have one meaning in the store, that of
/// ``KeyWriter``.
indirect enum CompiledFilter {
    case all([CompiledFilter])
    case any([CompiledFilter])
    case inside(FieldPath, KeyRange)
    /// The field equals this UTF-8 text. Compares the encoded bytes: most rows of a scan are
    /// rejected by this test, and making a value and a key of each took two thirds of its time.
    case text(FieldPath, [UInt8])
    case oneOf(FieldPath, Set<[UInt8]>)
    /// The field exists, is not null, and has none of these values.
    case noneOf(FieldPath, Set<[UInt8]>)
    case containsAny(FieldPath, Set<[UInt8]>)
    case never

    init(_ filter: Filter) {
        switch filter {
        case .and(let filters):
            self = .all(filters.filter { !$0.isVacuous }.map(CompiledFilter.init))
        case .or(let filters):
            let parts = filters.filter { !$0.isVacuous }
            self = parts.isEmpty ? .all([]) : .any(parts.map(CompiledFilter.init))
        case .unary(let field, .isNull): self = .inside(field, KeyRange(prefix: KeyWriter.null))
        case .unary(let field, .isNaN): self = .inside(field, KeyRange(prefix: KeyWriter.nan))
        case .unary(let field, .isNotNull): self = .noneOf(field, [])
        case .unary(let field, .isNotNaN): self = .noneOf(field, [KeyWriter.nan])
        case .field(let field, let operation, let operand):
            self = Self.comparison(field, operation: operation, operand: operand)
        }
    }

    private static func comparison(
        _ field: FieldPath, operation: Filter.Operator, operand: Value
    ) -> CompiledFilter {
        switch operation {
        case .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual:
            guard let (lower, upper) = operation.cuts(operand) else { return .never }
            return .inside(field, KeyRange(from: lower, to: upper))
        case .equal:
            guard operand.isSearchable else { return .never }
            if case .string(let text) = operand, !field.isDocumentID {
                return .text(field, Array(text.utf8))
            }
            return .inside(field, KeyRange(prefix: KeyWriter.key(of: operand)))
        case .notEqual:
            return operand.isSearchable ? .noneOf(field, [KeyWriter.key(of: operand)]) : .never
        case .isIn: return .oneOf(field, operand.searchableKeys)
        case .notIn:
            if operand.elementsOrNone.contains(where: { $0.typeRank == 0 }) { return .never }
            // Unlike `in`, `not-in` treats NaN as an ordinary value.
            return .noneOf(field, Set(operand.elementsOrNone.map { KeyWriter.key(of: $0) }))
        case .arrayContains:
            return operand.isSearchable
                ? .containsAny(field, [KeyWriter.key(of: operand)]) : .never
        case .arrayContainsAny: return .containsAny(field, operand.searchableKeys)
        }
    }

    func matches(
        _ value: (FieldPath) -> Value?, hasText: (FieldPath, [UInt8]) -> Bool
    ) -> Bool {
        switch self {
        case .all(let filters):
            return filters.allSatisfy { $0.matches(value, hasText: hasText) }
        case .any(let filters):
            return filters.contains { $0.matches(value, hasText: hasText) }
        case .text(let field, let text): return hasText(field, text)
        case .never: return false
        case .inside(let field, let range):
            return value(field).map { range.contains(KeyWriter.key(of: $0)) } ?? false
        case .oneOf(let field, let keys):
            return value(field).map { keys.contains(KeyWriter.key(of: $0)) } ?? false
        case .noneOf(let field, let keys):
            guard let value = value(field), value.typeRank != 0 else { return false }
            return keys.isEmpty || !keys.contains(KeyWriter.key(of: value))
        case .containsAny(let field, let keys):
            guard case .array(let elements)? = value(field) else { return false }
            return elements.contains { keys.contains(KeyWriter.key(of: $0)) }
        }
    }
}

extension Filter.Operator {
    /// Returns the range of keys that a range filter allows; nil if none. Only values of the
    /// operand's rank are compared, and NaN does not count as a number.
    func cuts(_ operand: Value) -> (lower: Cut, upper: Cut)? {
        guard operand.isSearchable else { return nil }
        let key = KeyWriter.key(of: operand)
        let rank = [KeyWriter.tag(rank: operand.typeRank)]
        let isNumber = rank[0] == KeyWriter.nan[0]
        let least = isNumber ? Cut.after(KeyWriter.nan) : .before(rank)
        switch self {
        case .lessThan: return (least, .before(key))
        case .lessThanOrEqual: return (least, .after(key))
        case .greaterThan: return (.after(key), .after(rank))
        case .greaterThanOrEqual: return (.before(key), .after(rank))
        default: return nil
        }
    }
}

extension Value {
    /// False for null and NaN, which only unary filters match.
    var isSearchable: Bool { typeRank != 0 && !isNaN }

    var elementsOrNone: [Value] {
        if case .array(let values) = self { values } else { [] }
    }

    fileprivate var searchableKeys: Set<[UInt8]> {
        Set(elementsOrNone.filter(\.isSearchable).map { KeyWriter.key(of: $0) })
    }
}
