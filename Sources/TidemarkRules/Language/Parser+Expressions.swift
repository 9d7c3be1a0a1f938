// The precedence, lowest first: ?: || && ==,!= comparisons,in,is +,- *,/,% unary postfix.
extension Parser {
    /// The maximum depth of an expression, plus a margin for expressions that are rejected later.
    private static let mostOpenLevels = RulesLimits.expressionLevels + 20

    mutating func expression() throws(Unexpected) -> Expression {
        openLevels += 1
        defer { openLevels -= 1 }
        if openLevels > Self.mostOpenLevels {
            throw refuse(RulesText.tooComplex)
        }
        let condition = try disjunction()
        guard takeSymbol("?") else { return condition }
        let first = try expression()
        try expectSymbol(":")
        let second = try expression()
        return make(
            .conditional(condition, first, second), from: condition.start,
            depth: max(condition.depth, first.depth, second.depth) + 1)
    }

    private mutating func disjunction() throws(Unexpected) -> Expression {
        try chain("||") { (parser: inout Parser) throws(Unexpected) in try parser.conjunction() }
    }

    private mutating func conjunction() throws(Unexpected) -> Expression {
        try chain("&&") { (parser: inout Parser) throws(Unexpected) in try parser.binary(level: 0) }
    }

    /// Parses the operands of one operator. From the left, each operand after the first adds a
    /// level.
    private mutating func chain(
        _ symbol: String, _ operand: (inout Parser) throws(Unexpected) -> Expression
    ) throws(Unexpected) -> Expression {
        var operands = [try operand(&self)]
        var depth = operands[0].depth
        while takeSymbol(symbol) {
            let next = try operand(&self)
            operands.append(next)
            depth = max(depth, next.depth) + 1
        }
        if operands.count == 1 { return operands[0] }
        return make(
            symbol == "&&" ? .and(operands) : .or(operands), from: operands[0].start, depth: depth)
    }

    private static let levels: [[String]] = [
        ["==", "!="], ["<", "<=", ">", ">=", "in", "is"], ["+", "-"], ["*", "/", "%"],
    ]

    /// Parses the left-associative operators of one level. Operators of higher precedence are their
    /// operands.
    private mutating func binary(level: Int) throws(Unexpected) -> Expression {
        if level == Self.levels.count { return try unary() }
        var left = try binary(level: level + 1)
        while current.kind == .symbol || current.isWord("in") || current.isWord("is"),
            Self.levels[level].contains(current.text)
        {
            let (word, symbolStart) = (current.text, current.start)
            advance()
            if word == "is" {
                let type = try isOperand()
                left = make(.isType(left, type), from: left.start, depth: left.depth + 1)
                continue
            }
            let right = try binary(level: level + 1)
            left = make(
                .binary(
                    BinaryOperator(rawValue: word)!, left, right, symbolStart: symbolStart),
                from: left.start,
                depth: max(left.depth, right.depth) + 1)
        }
        return left
    }

    private mutating func isOperand() throws(Unexpected) -> String {
        guard current.kind == .name else {
            throw refuse("Missing a type before \(current.shown).")
        }
        defer { advance() }
        return current.text
    }

    private mutating func unary() throws(Unexpected) -> Expression {
        let start = current.start
        if current.isSymbol("-"), case let minus = current {
            advance()
            // The smallest integer is parsed together with its sign, because without it the number
            // would be too large.
            if current.kind == .integer, current.start == minus.end,
                let value = Int64("-" + current.text)
            {
                advance()
                return try postfix(make(.literal(.integer(value)), from: start, depth: 1))
            }
            return try nested(from: start) { .negative($0) }
        }
        if takeSymbol("!") { return try nested(from: start) { .not($0) } }
        return try postfix(try primary())
    }

    private mutating func nested(
        from start: Int, _ kind: (Expression) -> Expression.Kind
    ) throws(Unexpected) -> Expression {
        openLevels += 1
        defer { openLevels -= 1 }
        if openLevels > Self.mostOpenLevels { throw refuse(RulesText.tooComplex) }
        let operand = try unary()
        return make(kind(operand), from: start, depth: operand.depth + 1)
    }

    private mutating func postfix(_ first: Expression) throws(Unexpected) -> Expression {
        var value = first
        while true {
            if takeSymbol(".") {
                let nameStart = current.start
                let name = try expectName("a name")
                if current.isSymbol("(") {
                    let (arguments, depth) = try arguments()
                    value = make(
                        .method(value, name, arguments, nameStart: nameStart), from: value.start,
                        depth: max(depth, value.depth) + 1)
                } else {
                    value = make(.member(value, name), from: value.start, depth: value.depth + 1)
                }
            } else if takeSymbol("[") {
                value = try subscripted(value)
            } else {
                return value
            }
        }
    }

    private mutating func subscripted(_ value: Expression) throws(Unexpected) -> Expression {
        let first = try expression()
        if takeSymbol(":") {
            let second = try expression()
            try expectSymbol("]")
            return make(
                .slice(value, first, second), from: value.start,
                depth: max(value.depth, first.depth, second.depth) + 1)
        }
        try expectSymbol("]")
        return make(
            .index(value, first), from: value.start, depth: max(value.depth, first.depth) + 1)
    }

    private mutating func arguments() throws(Unexpected) -> ([Expression], depth: Int) {
        try expectSymbol("(")
        return try elements(until: ")")
    }

    private mutating func elements(until end: String) throws(Unexpected) -> ([Expression], Int) {
        var elements: [Expression] = []
        if !current.isSymbol(end) {
            repeat { elements.append(try expression()) } while takeSymbol(",")
        }
        try expectSymbol(end)
        return (elements, elements.map(\.depth).max() ?? 0)
    }

    private mutating func primary() throws(Unexpected) -> Expression {
        let token = current
        switch token.kind {
        case .integer:
            advance()
            guard let value = Int64(token.text) else {
                report("Integer out of range: \(token.text).", at: token.start)
                return make(.literal(.null), from: token.start, depth: 1)
            }
            return make(.literal(.integer(value)), from: token.start, depth: 1)
        case .float: return literal(.float(Double(token.text) ?? .infinity))
        case .string: return literal(.string(token.text))
        case .bytes: return literal(.bytes(token.contents))
        case .name: return try named()
        case .symbol, .end: return try bracketed()
        }
    }

    private mutating func literal(_ value: RulesValue) -> Expression {
        let start = current.start
        advance()
        return make(.literal(value), from: start, depth: 1)
    }

    private mutating func named() throws(Unexpected) -> Expression {
        let token = current
        switch token.text {
        case "true": return literal(.boolean(true))
        case "false": return literal(.boolean(false))
        case "null": return literal(.null)
        case "in", "is", "let", "return", "if", "match", "allow", "function", "service":
            throw refuse("Unexpected \(token.shown).")
        default: break
        }
        advance()
        guard current.isSymbol("(") else {
            return make(.name(token.text), from: token.start, depth: 1)
        }
        let (arguments, depth) = try arguments()
        return make(.call(token.text, arguments), from: token.start, depth: depth + 1)
    }

    private mutating func bracketed() throws(Unexpected) -> Expression {
        let start = current.start
        if current.isSymbol("/") {
            let parts = try pathLiteral()
            var depth = 0
            for case .expression(let part) in parts { depth = max(depth, part.depth) }
            return make(.path(parts), from: start, depth: depth + 1)
        }
        if takeSymbol("(") {
            let inner = try expression()
            try expectSymbol(")")
            // Parentheses add a level but no operator. Errors refer to the expression inside.
            let whole = make(inner.kind, from: inner.start, depth: inner.depth + 1)
            return Expression(
                kind: whole.kind, start: inner.start, end: inner.end, depth: whole.depth)
        }
        if takeSymbol("[") {
            let (elements, depth) = try elements(until: "]")
            return make(.list(elements), from: start, depth: depth + 1)
        }
        if takeSymbol("{") { return try map(from: start) }
        throw refuse("Unexpected \(current.shown).")
    }

    private mutating func map(from start: Int) throws(Unexpected) -> Expression {
        var entries: [(key: Expression, value: Expression)] = []
        if !current.isSymbol("}") {
            repeat {
                let key = try expression()
                try expectSymbol(":")
                entries.append((key, try expression()))
            } while takeSymbol(",")
        }
        try expectSymbol("}")
        let depth = entries.map { max($0.key.depth, $0.value.depth) }.max() ?? 0
        return make(.map(entries), from: start, depth: depth + 1)
    }

    /// Makes a node of the tree. Rejects and replaces a node that is too deep, which bounds the
    /// depth of every tree.
    private mutating func make(
        _ kind: Expression.Kind, from start: Int, depth: Int
    ) -> Expression {
        if depth <= RulesLimits.expressionLevels {
            return Expression(kind: kind, start: start, end: lastEnd, depth: depth)
        }
        report(RulesText.tooComplex, at: start)
        return Expression(kind: .literal(.boolean(false)), start: start, end: lastEnd, depth: 1)
    }
}
