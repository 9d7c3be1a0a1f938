import TidemarkModel

extension Evaluator {
    mutating func binary(
        _ symbol: BinaryOperator, _ leftNode: Node, _ rightNode: Node, _ node: Node
    ) throws(RulesFailure) -> RulesValue {
        let left = try evaluate(leftNode)
        let right = try evaluate(rightNode)
        if left.isKnowledge || right.isKnowledge {
            return ProofOperators.judge(symbol, left, right, &self)
        }
        // What is known of parts says nothing of the whole. The keys of a map are known.
        if isProof, symbol != .isIn || !right.isMap, left.holdsKnowledge || right.holdsKnowledge {
            return .known(Knowledge())
        }
        switch symbol {
        case .equal: return .boolean(try same(left, right, node))
        case .notEqual: return .boolean(!(try same(left, right, node)))
        case .less, .lessOrEqual, .greater, .greaterOrEqual:
            return .boolean(try compare(symbol, left, right, node))
        case .isIn: return .boolean(try contains(right, left, node))
        case .add: return try sum(left, right, node)
        case .subtract: return try difference(left, right, node)
        case .multiply, .divide, .remainder: return try product(symbol, left, right, node)
        }
    }

    private mutating func same(
        _ left: RulesValue, _ right: RulesValue, _ node: Node
    ) throws(RulesFailure) -> Bool {
        try use(min(left.extent, right.extent), at: node)
        return left.equals(right)
    }

    func unsupported(
        _ symbol: BinaryOperator, _ left: RulesValue, _ right: RulesValue, _ node: Node,
        expected: String
    ) -> RulesFailure {
        let received = "\(left.typeName) \(symbol.rawValue) \(right.typeName)"
        return failure(.unsupported(received: received, expected: expected), node)
    }

    private mutating func compare(
        _ symbol: BinaryOperator, _ left: RulesValue, _ right: RulesValue, _ node: Node
    ) throws(RulesFailure) -> Bool {
        if left.isNaN || right.isNaN, left.number != nil, right.number != nil { return false }
        guard let order = RulesValue.order(left, right) else {
            noteMissingLimit(symbol, left, right, node)
            if case .null = left { throw failure(.nullValue, node) }
            throw unsupported(
                symbol, left, right, node, expected: "two values of one type that has an order")
        }
        switch symbol {
        case .less: return order == .ascending
        case .lessOrEqual: return order != .descending
        case .greater: return order == .descending
        default: return order != .ascending
        }
    }

    /// A rule bounds the query's limit, and the query has none.
    private mutating func noteMissingLimit(
        _ symbol: BinaryOperator, _ left: RulesValue, _ right: RulesValue, _ node: Node
    ) {
        guard case .binary(_, let operand, _) = node.operation, case .null = left,
            case .member(let query, "limit") = operand.operation,
            case .member(_, "query") = query.operation, let text = SwiftLiteral.text(of: right)
        else { return }
        lacking.append(MissingCondition(field: "", test: .limit(text)))
    }

    private mutating func contains(
        _ container: RulesValue, _ element: RulesValue, _ node: Node
    ) throws(RulesFailure) -> Bool {
        switch container {
        case .list(let values), .set(let values):
            try use(values.count, at: node)
            return values.contains { $0.equals(element) }
        case .map(let map):
            guard case .string(let key) = element else { return false }
            return map[key] != nil
        case .null: throw failure(.nullValue, node)
        default:
            throw unsupported(.isIn, element, container, node, expected: "a list, a set or a map")
        }
    }

    // MARK: Arithmetic

    private mutating func sum(
        _ left: RulesValue, _ right: RulesValue, _ node: Node
    ) throws(RulesFailure) -> RulesValue {
        switch (left, right) {
        case (.integer(let a), .integer(let b)):
            return try whole(a.addingReportingOverflow(b), node)
        case (.string(let a), .string(let b)):
            let size = a.utf8.count + b.utf8.count
            try use(size, at: node)
            if size > Self.mostElements { throw failure(.tooComplex, node) }
            return .string(a + b)
        case (.timestamp(let time), .duration(let length)),
            (.duration(let length), .timestamp(let time)):
            return try moved(time, by: length.total, node)
        case (.duration(let a), .duration(let b)): return try length(a.total + b.total, node)
        case (.list(let a), .list(let b)):
            return try joined(a, b, node)
        default:
            guard let a = left.number, let b = right.number else {
                throw unsupported(
                    .add, left, right, node, expected: "numbers, strings, lists or times")
            }
            return .float(a + b)
        }
    }

    mutating func joined(
        _ left: [RulesValue], _ right: [RulesValue], _ node: Node
    ) throws(RulesFailure) -> RulesValue {
        try use(left.count + right.count, at: node)
        if left.count + right.count > Self.mostElements { throw failure(.tooComplex, node) }
        return .list(left + right)
    }

    private func difference(
        _ left: RulesValue, _ right: RulesValue, _ node: Node
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
                throw unsupported(.subtract, left, right, node, expected: "numbers or times")
            }
            return .float(a - b)
        }
    }

    /// Whole numbers are divided towards zero, and the remainder has the sign of the first.
    private func product(
        _ symbol: BinaryOperator, _ left: RulesValue, _ right: RulesValue, _ node: Node
    ) throws(RulesFailure) -> RulesValue {
        if case .integer(let a) = left, case .integer(let b) = right {
            if symbol == .multiply { return try whole(a.multipliedReportingOverflow(by: b), node) }
            if b == 0 { throw failure(.divisionByZero, node) }
            return try whole(
                symbol == .divide
                    ? a.dividedReportingOverflow(by: b)
                    : a.remainderReportingOverflow(dividingBy: b),
                node)
        }
        guard let a = left.number, let b = right.number else {
            throw unsupported(symbol, left, right, node, expected: "numbers")
        }
        switch symbol {
        case .multiply: return .float(a * b)
        case .divide: return .float(a / b)
        default:
            if b == 0 { throw failure(.divisionByZero, node) }
            return .float(a.truncatingRemainder(dividingBy: b))
        }
    }

    private func whole(
        _ result: (partialValue: Int64, overflow: Bool), _ node: Node
    ) throws(RulesFailure) -> RulesValue {
        if result.overflow { throw failure(.outOfRange("Integer overflow error."), node) }
        return .integer(result.partialValue)
    }

    func length(_ total: Int128, _ node: Node) throws(RulesFailure) -> RulesValue {
        guard let duration = RulesDuration(total: total) else {
            throw failure(.outOfRange("Duration out of range."), node)
        }
        return .duration(duration)
    }

    private func moved(
        _ time: Timestamp, by nanoseconds: Int128, _ node: Node
    ) throws(RulesFailure) -> RulesValue {
        guard let result = Timestamp(nanoseconds128: time.nanoseconds128 + nanoseconds) else {
            throw failure(.outOfRange("Timestamp out of range."), node)
        }
        return .timestamp(result)
    }

    mutating func negative(_ inner: Node, _ node: Node) throws(RulesFailure) -> RulesValue {
        let value = try evaluate(inner)
        switch value {
        case .integer(let value):
            return try whole(Int64(0).subtractingReportingOverflow(value), node)
        case .float(let value): return .float(-value)
        case .known: return .known(Knowledge())
        default:
            throw failure(.unsupported(received: "-\(value.typeName)", expected: "number"), node)
        }
    }
}

extension Timestamp {
    var nanoseconds128: Int128 { Int128(seconds) * 1_000_000_000 + Int128(nanoseconds) }

    /// Nil outside of years 1 to 9999.
    init?(nanoseconds128 total: Int128) {
        let (quotient, remainder) = total.quotientAndRemainder(dividingBy: 1_000_000_000)
        let borrow: Int128 = remainder < 0 ? 1 : 0
        guard let seconds = Int64(exactly: quotient - borrow) else { return nil }
        let nanoseconds = Int32(remainder + borrow * 1_000_000_000)
        guard Timestamp.isValid(seconds: seconds, nanoseconds: nanoseconds) else { return nil }
        self.init(seconds: seconds, nanoseconds: nanoseconds)
    }
}
