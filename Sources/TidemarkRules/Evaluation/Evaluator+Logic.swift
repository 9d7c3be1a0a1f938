// The logic of true, false and error, and for queries of unknown, which can be any of the three.
extension Evaluator {
    /// Evaluates a boolean; nil if it is unknown.
    mutating func condition(_ node: Node) throws(RulesFailure) -> Bool? {
        let value = try evaluate(node)
        switch value {
        case .boolean(let value): return value
        case .known(let knowledge):
            if knowledge.kind == .boolean || knowledge.kind == nil {
                ledger.lack(knowledge, .isTrue)
                return nil
            }
        default: break
        }
        throw RulesFailure(.notBoolean(value.typeName), node)
    }

    /// Evaluates `&&`: false if one operand is false, whatever the others are.
    mutating func conjunction(
        _ operands: [Node], _ node: Node
    ) throws(RulesFailure) -> RulesValue {
        try join(operands, node, decisive: false)
    }

    /// Evaluates `||`: true if one operand is true, whatever the others are.
    mutating func disjunction(
        _ operands: [Node], _ node: Node
    ) throws(RulesFailure) -> RulesValue {
        try join(operands, node, decisive: true)
    }

    private mutating func join(
        _ operands: [Node], _ node: Node, decisive: Bool
    ) throws(RulesFailure) -> RulesValue {
        var failure: RulesFailure?
        var isKnown = true
        for (index, operand) in operands.enumerated() {
            if index > 0 { try ledger.spend(1, at: node) }
            do throws(RulesFailure) {
                guard let value = try condition(operand) else {
                    isKnown = false
                    continue
                }
                if value == decisive { return .boolean(decisive) }
            } catch {
                if error.cause.isLimit { throw error }
                failure = failure ?? error
            }
        }
        if let failure, isKnown || !decisive { throw failure }
        return isKnown ? .boolean(!decisive) : .known(Knowledge(kind: .boolean))
    }
}

extension RulesFailure.Cause {
    /// True if the error ends the whole evaluation. No operator absorbs it.
    var isLimit: Bool { self == .outOfEvaluations || self == .tooComplex }
}
