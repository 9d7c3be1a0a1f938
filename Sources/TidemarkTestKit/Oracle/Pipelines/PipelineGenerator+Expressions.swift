import TidemarkModel

extension PipelineGenerator {
    enum Kind: CaseIterable { case any, boolean, number, text, list, map }

    mutating func expression(_ kind: Kind) -> Pipeline.Expression {
        depth += 1
        defer { depth -= 1 }
        // Some arguments have any type, so that type errors occur too.
        let kind = chance(4) ? pick(Kind.allCases) : kind
        if depth > 3 || chance(35) { return leaf(kind) }
        if chance(12) { return choice(kind) }
        switch kind {
        case .any: return expression(pick([.boolean, .number, .text, .list, .map]))
        case .boolean: return condition()
        case .number: return ofNumbers()
        case .text: return ofTexts()
        case .list: return ofLists()
        case .map:
            let map = expression(.map)
            let key = Pipeline.Expression.constant(.string(pick(["x", "y"])))
            return chance(60)
                ? .call("map_set", [map, key, expression(.any)])
                : .map([Pipeline.Entry(key: "x", value: expression(.any))])
        }
    }

    private mutating func leaf(_ kind: Kind) -> Pipeline.Expression {
        if chance(25), let name = variables.randomElement(using: &random) { return .variable(name) }
        if chance(60) {
            let names: [String] =
                switch kind {
                case .any: ["a", "a", "m.x", "none", "n", "s"]
                case .boolean: ["b"]
                case .number: ["n"]
                case .text: ["s"]
                case .list: ["l"]
                case .map: ["m"]
                }
            return .field(pick(names))
        }
        switch kind {
        case .any: return .constant(value())
        case .boolean: return .constant(.boolean(chance(50)))
        case .number: return .constant(chance(60) ? .integer(Int64(number(-2...3))) : .double(1.5))
        case .text: return .constant(.string(text()))
        case .list: return .array((0..<number(0...2)).map { _ in expression(.any) })
        case .map: return .constant(.map(map(depth: 1)))
        }
    }

    /// Returns an expression of any kind that chooses among others, or reads a part.
    private mutating func choice(_ kind: Kind) -> Pipeline.Expression {
        switch number(0...7) {
        case 0: .call("conditional", [expression(.boolean), expression(kind), expression(kind)])
        case 1: .call("if_error", [expression(kind), expression(kind)])
        case 2: .call("if_absent", [expression(kind), expression(kind)])
        case 3: .call("coalesce", [expression(kind), expression(kind)])
        case 4: .call("map_get", [expression(.map), .constant(.string(pick(["x", "y"])))])
        case 5: .call("array_get", [expression(.list), expression(.number)])
        case 6: .call(pick(["maximum", "minimum"]), [expression(kind), expression(kind)])
        default: .call("array_first", [expression(.list)])
        }
    }

    mutating func condition() -> Pipeline.Expression {
        switch number(0...9) {
        case 0, 1: .call(pick(["equal", "not_equal"]), [expression(.any), expression(.any)])
        case 2, 3:
            .call(
                pick(["less_than", "less_than_or_equal", "greater_than", "greater_than_or_equal"]),
                [expression(.number), expression(.any)])
        case 4, 5:
            .call(pick(["and", "or", "xor", "nor"]), [expression(.boolean), expression(.boolean)])
        case 6: .call(pick(["not", "is_error", "exists", "is_absent"]), [expression(.boolean)])
        case 7: .call(pick(["equal_any", "not_equal_any"]), [expression(.any), expression(.list)])
        case 8: .call("array_contains", [expression(.list), expression(.any)])
        default:
            chance(50)
                ? .call(
                    pick(["array_contains_any", "array_contains_all"]),
                    [expression(.list), expression(.list)])
                : .call(
                    pick(["starts_with", "string_contains"]),
                    [expression(.text), expression(.text)])
        }
    }

    private mutating func ofNumbers() -> Pipeline.Expression {
        switch number(0...4) {
        case 0, 1:
            .call(
                pick(["add", "subtract", "divide", "mod"]),
                [expression(.number), expression(.number)])
        case 2: .call(pick(["abs", "floor", "ceil"]), [expression(.number)])
        case 3: .call(pick(["cmp"]), [expression(.any), expression(.any)])
        default:
            chance(50)
                ? .call("array_length", [expression(.list)])
                : .call("char_length", [expression(.text)])
        }
    }

    private mutating func ofTexts() -> Pipeline.Expression {
        switch number(0...3) {
        case 0: .call("string_concat", [expression(.text), expression(.text)])
        case 1: .call(pick(["to_upper", "reverse"]), [expression(.text)])
        case 2: .call("substring", [expression(.text), expression(.number)])
        default: .call("type", [expression(.any)])
        }
    }

    private mutating func ofLists() -> Pipeline.Expression {
        switch number(0...5) {
        case 0: .call("array_concat", [expression(.list), expression(.list)])
        case 1: .call("array_reverse", [expression(.list)])
        case 2: .call("split", [expression(.text), .constant(.string(pick([",", "a", ""])))])
        case 3, 4: lambda()
        default: .call("array", [expression(.any), expression(.any)])
        }
    }

    private mutating func lambda() -> Pipeline.Expression {
        let list = expression(.list)
        let (element, index) = ("e\(depth)", "i\(depth)")
        variables.append(element)
        defer { variables.removeAll { $0 == element || $0 == index } }
        if chance(50) {
            let body = expression(.boolean)
            return .call("array_filter", [list, .constant(.string(element)), body])
        }
        variables.append(index)
        let body = expression(.any)
        return .call(
            "array_transform",
            [list, .constant(.string(element)), .constant(.string(index)), body])
    }
}
