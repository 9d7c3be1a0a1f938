import TidemarkModel

/// Functions that compare values.
enum Comparisons {
    static let functions: [Function] =
        [
            .ofOutcomes("equal", takes: 2...2) { equality($0[0], $0[1], negated: false) },
            .ofOutcomes("not_equal", takes: 2...2) { equality($0[0], $0[1], negated: true) },
            .ofOutcomes("cmp", takes: 2...2) { values in
                if let error = values.first(where: \.isError) { return error }
                let order = Value.compare(values[0].sortKey, values[1].sortKey)
                return .integer(Int(order.rawValue))
            },
            .ofOutcomes("equal_any", takes: 2...2) { membership($0[0], $0[1], negated: false) },
            .ofOutcomes("not_equal_any", takes: 2...2) { membership($0[0], $0[1], negated: true) },
        ] + [
            range("less_than") { $0 == .ascending },
            range("less_than_or_equal") { $0 != .descending },
            range("greater_than") { $0 == .descending },
            range("greater_than_or_equal") { $0 != .ascending },
        ]

    /// Null equals null and absent equals absent, but null does not equal absent.
    private static func equality(_ left: Outcome, _ right: Outcome, negated: Bool) -> Outcome {
        switch (left, right) {
        case (.error, _): left
        case (_, .error): right
        case (.absent, .absent): .boolean(!negated)
        case (.value(let a), .value(let b)): .boolean(a.isEquivalent(to: b) != negated)
        default: .boolean(areEqualNothings(left, right) != negated)
        }
    }

    /// Null and absent are two things.
    private static func areEqualNothings(_ left: Outcome, _ right: Outcome) -> Bool {
        #if TIDEMARK_DEFECTS
            if PipelineDefect.planted == .nullIsAbsent { return left.isNothing && right.isNothing }
        #endif
        return false
    }

    private static func membership(_ value: Outcome, _ list: Outcome, negated: Bool) -> Outcome {
        if value.isError { return value }
        if list.isNothing { return .null }
        guard case .value(let found) = list else { return list }
        guard case .array(let elements) = found else {
            return .error(Fault.type("equal_any", wanted: "an array", found: found).message)
        }
        guard case .value(let wanted) = value else { return .boolean(negated) }
        return .boolean(elements.contains { $0.isEquivalent(to: wanted) } != negated)
    }

    /// Values of different classes do not compare. NaN and null have separate classes.
    private static func range(
        _ name: String, _ accepts: @escaping @Sendable (Comparison) -> Bool
    ) -> Function {
        .ofOutcomes(name, takes: 2...2) { values in
            if let error = values.first(where: \.isError) { return error }
            switch (values[0], values[1]) {
            case (.value(let a), .value(let b)):
                guard a.comparisonClass == b.comparisonClass else { return .boolean(false) }
                return .boolean(accepts(Value.compare(a, b)))
            // An absent value compares with nothing but null, like null itself.
            default: return .boolean(values.allSatisfy(\.isNothing) && accepts(.equal))
            }
        }
    }
}

extension Value {
    fileprivate var comparisonClass: UInt8 {
        #if TIDEMARK_DEFECTS
            if PipelineDefect.planted == .rangesCrossTypes { return 0 }
        #endif
        if isNaN { return 100 }
        if case .pendingServerTimestamp = self { return Value.timestamp(.epoch).typeRank }
        return typeRank
    }
}
