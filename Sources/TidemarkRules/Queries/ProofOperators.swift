/// Operators on values that differ between a query's results.
enum ProofOperators {
    /// Evaluates an operation on values that differ between a query's results.
    static func judge(
        _ symbol: BinaryOperator, left: RulesValue, right: RulesValue,
        ledger: inout EvaluationLedger
    ) -> RulesValue {
        if let answer = decided(symbol, left: left, right: right) { return .boolean(answer) }
        switch (left, right) {
        case (.string(let name), .known(let document)) where symbol == .isIn && document.isDocument:
            if case .known(let member) = document.memberOrUnknown(name) {
                ledger.lack(member, .isThere)
            }
        case (.known(let knowledge), _) where !right.isKnowledge:
            ledger.lack(knowledge, symbol: symbol, value: right)
        case (_, .known(let knowledge)) where !left.isKnowledge:
            if symbol == .isIn, let text = SwiftLiteral.text(of: left) {
                ledger.lack(knowledge, .contains(text))
            } else if let mirrored = symbol.mirrored {
                ledger.lack(knowledge, symbol: mirrored, value: left)
            }
        default: break
        }
        return .known(Knowledge())
    }

    private static func decided(
        _ symbol: BinaryOperator, left: RulesValue, right: RulesValue
    ) -> Bool? {
        switch (symbol, left, right) {
        case (_, .known, .known): return nil
        case (.isIn, .known(let knowledge), .list(let values)),
            (.isIn, .known(let knowledge), .set(let values)):
            let answers = values.map { knowledge.equals($0) }
            if answers.contains(true) { return true }
            return knowledge.isThere && answers.allSatisfy({ $0 == false }) ? false : nil
        case (.isIn, .string(let key), .known(let knowledge)) where knowledge.hasMember(key):
            return true
        case (.isIn, _, .known(let knowledge)):
            return knowledge.contains(left) ? true : nil
        case (.equal, .known(let knowledge), _): return knowledge.equals(right)
        case (.notEqual, .known(let knowledge), _): return knowledge.equals(right).map { !$0 }
        case (.less, .known(let knowledge), _): return knowledge.isBelow(right, orEqual: false)
        case (.lessOrEqual, .known(let knowledge), _):
            return knowledge.isBelow(right, orEqual: true)
        case (.greater, .known(let knowledge), _):
            return knowledge.isBelow(right, orEqual: true).map { !$0 }
        case (.greaterOrEqual, .known(let knowledge), _):
            return knowledge.isBelow(right, orEqual: false).map { !$0 }
        case (_, _, .known):
            return symbol.mirrored.flatMap { decided($0, left: right, right: left) }
        default: return nil
        }
    }
}

extension BinaryOperator {
    /// The operator with the same meaning after the operands are exchanged.
    var mirrored: BinaryOperator? {
        switch self {
        case .equal, .notEqual: self
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        case .greater: .less
        case .greaterOrEqual: .lessOrEqual
        default: nil
        }
    }
}
