import TidemarkModel

/// A condition on a field that would have decided an expression for all results of a query.
public struct MissingCondition: Hashable, Sendable {
    let field: String
    let test: Test

    enum Test: Hashable, Sendable {
        case isTrue
        /// A comparison, by its Swift label such as `isEqualTo` or `isLessThan`, and the value as
        /// Swift text.
        case compared(String, String)
        case contains(String)
        case limit(String)
        /// The field exists. An order by the field guarantees it.
        case isThere
    }

    /// The condition as Swift code of an app.
    public var swift: String {
        let field = "\"\(field)\""
        return switch test {
        case .isTrue: ".whereField(\(field), isEqualTo: true)"
        case .compared(let label, let value): ".whereField(\(field), \(label): \(value))"
        case .contains(let value): ".whereField(\(field), arrayContains: \(value))"
        case .limit(let value): ".limit(to: \(value))"
        case .isThere: ".order(by: \(field))"
        }
    }
}

extension EvaluationLedger {
    /// Records a condition that the query lacks.
    mutating func lack(_ knowledge: Knowledge, _ test: MissingCondition.Test) {
        guard let field = knowledge.field, lacking.count < 20 else { return }
        let condition = MissingCondition(field: field.encoded, test: test)
        if !lacking.contains(condition) { lacking.append(condition) }
    }

    mutating func lack(_ knowledge: Knowledge, symbol: BinaryOperator, value: RulesValue) {
        guard let text = SwiftLiteral.text(of: value) else { return }
        switch symbol {
        case .equal: lack(knowledge, .compared("isEqualTo", text))
        case .notEqual: lack(knowledge, .compared("isNotEqualTo", text))
        case .less: lack(knowledge, .compared("isLessThan", text))
        case .lessOrEqual: lack(knowledge, .compared("isLessThanOrEqualTo", text))
        case .greater: lack(knowledge, .compared("isGreaterThan", text))
        case .greaterOrEqual: lack(knowledge, .compared("isGreaterThanOrEqualTo", text))
        case .isIn: lack(knowledge, .compared("in", text))
        case .add, .subtract, .multiply, .divide, .remainder: break
        }
    }
}

/// Swift literals of values.
enum SwiftLiteral {
    /// Returns nil for a value without a literal.
    static func text(of value: RulesValue) -> String? {
        switch value {
        case .null: return "nil"
        case .boolean, .integer, .float: return value.description
        case .string(let text):
            let escaped = text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
            return "\"\(escaped)\""
        case .timestamp(let time): return "Timestamp(milliseconds: \(time.milliseconds))"
        case .path(let path): return "\"\(path.segments.dropFirst(3).joined(separator: "/"))\""
        case .list(let values):
            let texts = values.prefix(30).compactMap(text)
            return texts.count == values.count ? "[" + texts.joined(separator: ", ") + "]" : nil
        default: return nil
        }
    }
}
