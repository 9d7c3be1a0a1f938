import TidemarkModel

/// The operators with two operands, both evaluated.
enum Operators {
    static func apply(
        _ symbol: BinaryOperator, left: RulesValue, right: RulesValue, at node: Node,
        ledger: inout EvaluationLedger
    ) throws(RulesFailure) -> RulesValue {
        if left.isKnowledge || right.isKnowledge {
            return ProofOperators.judge(symbol, left: left, right: right, ledger: &ledger)
        }
        // Partly known operands leave the result unknown, except that the keys of a map are known.
        if ledger.isProof, symbol != .isIn || !right.isMap,
            left.holdsKnowledge || right.holdsKnowledge
        {
            return .known(Knowledge())
        }
        switch symbol {
        case .equal: return .boolean(try same(left, right, at: node, ledger: &ledger))
        case .notEqual: return .boolean(!(try same(left, right, at: node, ledger: &ledger)))
        case .less, .lessOrEqual, .greater, .greaterOrEqual:
            return .boolean(
                try compare(symbol, left: left, right: right, at: node, ledger: &ledger))
        case .isIn: return .boolean(try contains(right, element: left, at: node, ledger: &ledger))
        case .add: return try sum(left, right, at: node, ledger: &ledger)
        case .subtract: return try difference(left, right, at: node)
        case .multiply, .divide, .remainder:
            return try product(symbol, left: left, right: right, at: node)
        }
    }

    private static func same(
        _ left: RulesValue, _ right: RulesValue, at node: Node, ledger: inout EvaluationLedger
    ) throws(RulesFailure) -> Bool {
        try ledger.use(min(left.extent, right.extent), at: node)
        return left.equals(right)
    }

    private static func unsupported(
        _ symbol: BinaryOperator, left: RulesValue, right: RulesValue, at node: Node
    ) -> RulesFailure {
        let received = "\(left.typeName) \(symbol.rawValue) \(right.typeName)"
        return RulesFailure(.unsupported(received: received, expected: nil), node)
    }

    private static func compare(
        _ symbol: BinaryOperator, left: RulesValue, right: RulesValue, at node: Node,
        ledger: inout EvaluationLedger
    ) throws(RulesFailure) -> Bool {
        if left.isNaN || right.isNaN, left.number != nil, right.number != nil { return false }
        guard let order = RulesValue.order(left, right) else {
            noteMissingLimit(left, right, at: node, ledger: &ledger)
            if case .null = left { throw RulesFailure(.nullValue, node) }
            throw unsupported(symbol, left: left, right: right, at: node)
        }
        switch symbol {
        case .less: return order == .ascending
        case .lessOrEqual: return order != .descending
        case .greater: return order == .descending
        default: return order != .ascending
        }
    }

    /// Notes that a rule bounds the query's limit and the query has no limit.
    private static func noteMissingLimit(
        _ left: RulesValue, _ right: RulesValue, at node: Node, ledger: inout EvaluationLedger
    ) {
        guard case .binary(_, let operand, _, _) = node.operation, case .null = left,
            case .member(let query, "limit") = operand.operation,
            case .member(_, "query") = query.operation, let text = SwiftLiteral.text(of: right)
        else { return }
        ledger.lacking.append(MissingCondition(field: "", test: .limit(text)))
    }

    private static func contains(
        _ container: RulesValue, element: RulesValue, at node: Node,
        ledger: inout EvaluationLedger
    ) throws(RulesFailure) -> Bool {
        switch container {
        case .list(let values), .set(let values):
            try ledger.use(values.count, at: node)
            return values.contains { $0.equals(element) }
        case .map(let map):
            guard case .string(let key) = element else {
                throw RulesFailure(
                    .unsupported(
                        received: "map.in(\(element.typeName))", expected: "map.in(string)"),
                    node)
            }
            return map[key] != nil
        case .null: throw RulesFailure(.nullValue, node)
        default: throw RulesFailure(.functionNotFound("in"), node)
        }
    }

    // MARK: Arithmetic

    private static func sum(
        _ left: RulesValue, _ right: RulesValue, at node: Node, ledger: inout EvaluationLedger
    ) throws(RulesFailure) -> RulesValue {
        switch (left, right) {
        case (.integer(let a), .integer(let b)):
            return try whole(a.addingReportingOverflow(b), node)
        case (.string(let a), .string(let b)):
            let size = a.utf8.count + b.utf8.count
            try ledger.use(size, at: node)
            if size > EvaluationLedger.mostElements { throw RulesFailure(.tooComplex, node) }
            return .string(a + b)
        case (.timestamp(let time), .duration(let length)),
            (.duration(let length), .timestamp(let time)):
            return try moved(time, by: length.total, node)
        case (.duration(let a), .duration(let b)): return try length(a.total + b.total, node)
        default:
            // Lists have a method for it, `concat`, and no operator.
            guard let a = left.number, let b = right.number else {
                throw unsupported(.add, left: left, right: right, at: node)
            }
            return .float(a + b)
        }
    }

    static func joined(
        _ left: [RulesValue], _ right: [RulesValue], at node: Node,
        ledger: inout EvaluationLedger
    ) throws(RulesFailure) -> RulesValue {
        try ledger.use(left.count + right.count, at: node)
        if left.count + right.count > EvaluationLedger.mostElements {
            throw RulesFailure(.tooComplex, node)
        }
        return .list(left + right)
    }

    private static func difference(
        _ left: RulesValue, _ right: RulesValue, at node: Node
    ) throws(RulesFailure) -> RulesValue {
        switch (left, right) {
        case (.integer(let a), .integer(let b)):
            return try whole(a.subtractingReportingOverflow(b), node)
        case (.timestamp(let time), .duration(let length)):
            return try moved(time, by: -length.total, node)
        case (.timestamp(let a), .timestamp(let b)):
            return try length(a.nanoseconds128 - b.nanoseconds128, node)
        case (.duration(let a), .duration(let b)): return try length(a.total - b.total, node)
        default:
            guard let a = left.number, let b = right.number else {
                throw unsupported(.subtract, left: left, right: right, at: node)
            }
            return .float(a - b)
        }
    }

    /// Multiplies, divides or takes the remainder. Integer division truncates, and the remainder
    /// has the sign of the first operand.
    private static func product(
        _ symbol: BinaryOperator, left: RulesValue, right: RulesValue, at node: Node
    ) throws(RulesFailure) -> RulesValue {
        if case .integer(let a) = left, case .integer(let b) = right {
            if symbol == .multiply { return try whole(a.multipliedReportingOverflow(by: b), node) }
            if b == 0 { throw RulesFailure(.divisionByZero, node) }
            return try whole(
                symbol == .divide
                    ? a.dividedReportingOverflow(by: b)
                    : a.remainderReportingOverflow(dividingBy: b),
                node)
        }
        guard let a = left.number, let b = right.number else {
            throw unsupported(symbol, left: left, right: right, at: node)
        }
        switch symbol {
        case .multiply: return .float(a * b)
        case .divide: return .float(a / b)
        default:
            if b == 0 { throw RulesFailure(.divisionByZero, node) }
            return .float(a.truncatingRemainder(dividingBy: b))
        }
    }

    static func whole(
        _ result: (partialValue: Int64, overflow: Bool), _ node: Node
    ) throws(RulesFailure) -> RulesValue {
        if result.overflow { throw RulesFailure(.outOfRange("Integer overflow error."), node) }
        return .integer(result.partialValue)
    }

    static func length(_ total: Int128, _ node: Node) throws(RulesFailure) -> RulesValue {
        guard let duration = RulesDuration(total: total) else {
            throw RulesFailure(.outOfRange("Duration out of range."), node)
        }
        return .duration(duration)
    }

    private static func moved(
        _ time: Timestamp, by nanoseconds: Int128, _ node: Node
    ) throws(RulesFailure) -> RulesValue {
        guard let result = Timestamp(nanoseconds128: time.nanoseconds128 + nanoseconds) else {
            throw RulesFailure(.outOfRange("Timestamp out of range."), node)
        }
        return .timestamp(result)
    }
}

extension Timestamp {
    var nanoseconds128: Int128 { Int128(seconds) * 1_000_000_000 + Int128(nanoseconds) }

    /// Returns nil outside the years 1 to 9999.
    init?(nanoseconds128 total: Int128) {
        let (quotient, remainder) = total.quotientAndRemainder(dividingBy: 1_000_000_000)
        let borrow: Int128 = remainder < 0 ? 1 : 0
        guard let seconds = Int64(exactly: quotient - borrow) else { return nil }
        let nanoseconds = Int32(remainder + borrow * 1_000_000_000)
        guard Timestamp.isValid(seconds: seconds, nanoseconds: nanoseconds) else { return nil }
        self.init(seconds: seconds, nanoseconds: nanoseconds)
    }
}
