import TidemarkModel

/// Expressions of pipelines, from those that bind least to those that bind most.
extension QueryText {
    mutating func expression() throws(QueryTextError) -> Pipeline.Expression {
        try enter()
        defer { depth -= 1 }
        return try joined(by: "or") { parser throws(QueryTextError) in
            try parser.joined(by: "and") { parser throws(QueryTextError) in
                try parser.negation()
            }
        }
    }

    private mutating func joined(
        by word: String,
        _ part: (inout Self) throws(QueryTextError) -> Pipeline.Expression
    ) throws(QueryTextError) -> Pipeline.Expression {
        var parts = [try part(&self)]
        while takeWord(word) { parts.append(try part(&self)) }
        return parts.count == 1 ? parts[0] : .call(word, parts)
    }

    private mutating func negation() throws(QueryTextError) -> Pipeline.Expression {
        guard takeWord("not") else { return try comparison() }
        try enter()
        defer { depth -= 1 }
        return .call("not", [try negation()])
    }

    private mutating func comparison() throws(QueryTextError) -> Pipeline.Expression {
        let left = try sum()
        if takeWord("is") {
            let function = takeWord("not") ? "not_equal" : "equal"
            if takeWord("null") { return .call(function, [left, .constant(.null)]) }
            if takeWord("NaN") { return .call(function, [left, .constant(.double(.nan))]) }
            throw QueryTextError("Expected null, NaN, not null or not NaN after \"is\".")
        }
        guard case .word(let sign)? = token(), let function = PipelineOperator.comparisons[sign]
        else { return left }
        _ = take()
        return .call(function, [left, try sum()])
    }

    private mutating func sum() throws(QueryTextError) -> Pipeline.Expression {
        try computed(by: ["+": "add", "-": "subtract"]) { parser throws(QueryTextError) in
            try parser.computed(by: ["*": "multiply", "/": "divide"]) {
                parser throws(QueryTextError) in try parser.primary()
            }
        }
    }

    private mutating func computed(
        by functions: [String: String],
        _ part: (inout Self) throws(QueryTextError) -> Pipeline.Expression
    ) throws(QueryTextError) -> Pipeline.Expression {
        var result = try part(&self)
        while case .word(let sign)? = token(), let function = functions[sign] {
            _ = take()
            result = .call(function, [result, try part(&self)])
        }
        return result
    }

    // MARK: Parts

    private mutating func primary() throws(QueryTextError) -> Pipeline.Expression {
        switch take() {
        case .string(let text)?: return .constant(.string(text))
        case .sign("(")?:
            let inner = try expression()
            try close(")")
            return inner
        case .sign("[")?: return .array(try arguments(upTo: "]"))
        case .sign("{")?: return .map(try entries())
        case .word(let word)?: return try named(word)
        case .sign(let sign)?: throw QueryTextError("\(sign) is not a value.")
        case nil: throw QueryTextError("A value is missing at the end.")
        }
    }

    private mutating func arguments(
        upTo sign: String
    ) throws(QueryTextError) -> [Pipeline.Expression] {
        if takeSign(sign) { return [] }
        var values: [Pipeline.Expression] = []
        repeat { values.append(try expression()) } while takeSign(",")
        try close(sign)
        return values
    }

    private mutating func entries() throws(QueryTextError) -> [Pipeline.Entry] {
        if takeSign("}") { return [] }
        var entries: [Pipeline.Entry] = []
        repeat {
            let key = try name()
            guard takeSign(":") else {
                throw QueryTextError("Expected a colon after the key \(key).")
            }
            entries.append(Pipeline.Entry(key: key, value: try expression()))
        } while takeSign(",")
        try close("}")
        return entries
    }

    /// Reads a value, a function or a field that begins with a word.
    private mutating func named(_ word: String) throws(QueryTextError) -> Pipeline.Expression {
        if beginsValue(word) { return Pipeline.Expression(try value(word)) }
        if PipelineOperator.reserved.contains(word) {
            throw QueryTextError(
                "Expected a value before \"\(word)\". A field of this name needs backquotes.")
        }
        if word.hasPrefix("$") { return .variable(String(word.dropFirst())) }
        guard case .sign("(")? = token() else { return try field(word) }
        _ = take()
        if word == "array" || word == "scalar", case .word("from")? = token() {
            _ = take()
            let nested = try pipeline()
            try close(")")
            return .call(word, [.pipeline(nested)])
        }
        return .call(word, try arguments(upTo: ")"))
    }

    /// True if the word is a constant, or begins one together with the next token.
    private func beginsValue(_ word: String) -> Bool {
        switch (word, token()) {
        case ("null", _), ("true", _), ("false", _), ("NaN", _): true
        case ("timestamp", .string?), ("ref", .string?), ("bytes", .string?): true
        case ("vector", .sign("[")?), ("point", .sign("(")?): true
        default: word.first?.isLetter == false && Double(word) != nil
        }
    }

    mutating func field() throws(QueryTextError) -> Pipeline.Expression {
        guard case .word(let word)? = take() else {
            throw QueryTextError("A field name is missing.")
        }
        return try field(word)
    }

    private func field(_ text: String) throws(QueryTextError) -> Pipeline.Expression {
        do throws(InvalidPath) { _ = try FieldPath(encoded: text) } catch {
            throw QueryTextError(error.message)
        }
        return .field(text)
    }

    private mutating func name() throws(QueryTextError) -> String {
        switch take() {
        case .word(let text)?, .string(let text)?: return text
        case .sign?, nil: throw QueryTextError("A name is missing.")
        }
    }

    // MARK: Named values and orders

    /// Reads values with their names, as in `title, rating * 2 as double`.
    mutating func selections() throws(QueryTextError) -> [Pipeline.Entry] {
        var entries: [Pipeline.Entry] = []
        repeat {
            let value = try expression()
            let alias = takeWord("as") ? try name() : try Self.alias(of: value)
            if entries.contains(where: { $0.key.hasSameBytes(as: alias) }) {
                throw QueryTextError("The name \(alias) occurs twice.")
            }
            entries.append(Pipeline.Entry(key: alias, value: value))
        } while takeSign(",")
        return entries
    }

    /// Returns the name of a value that has none of its own: of a field its path, of a figure the
    /// function and the field.
    private static func alias(of value: Pipeline.Expression) throws(QueryTextError) -> String {
        switch value {
        case .field(let path): return path
        case .function(let name, let arguments, _) where arguments.isEmpty: return name
        case .function(let name, let arguments, _):
            if arguments.count == 1, case .field(let path) = arguments[0], !path.contains("`") {
                return name + "_" + path.replacing(".", with: "_")
            }
        default: break
        }
        throw QueryTextError("Name the value, as in rating * 2 as double.")
    }

    mutating func ordering() throws(QueryTextError) -> Pipeline.Expression {
        let value = try expression()
        let isDown = takeWord("desc") || takeWord("descending")
        if !isDown { _ = takeWord("asc") || takeWord("ascending") }
        return .map([
            Pipeline.Entry(
                key: "direction",
                value: .constant(.string(isDown ? "descending" : "ascending"))),
            Pipeline.Entry(key: "expression", value: value),
        ])
    }
}

/// The functions that the pipeline bar writes as signs.
enum PipelineOperator {
    static let comparisons = [
        "==": "equal", "!=": "not_equal", "<": "less_than", "<=": "less_than_or_equal",
        ">": "greater_than", ">=": "greater_than_or_equal", "in": "equal_any",
        "not-in": "not_equal_any", "array-contains": "array_contains",
        "array-contains-any": "array_contains_any",
    ]

    /// The signs of functions of two arguments, with their ranks: a higher one binds more.
    static let signs: [String: (sign: String, rank: Int)] =
        Dictionary(uniqueKeysWithValues: comparisons.map { ($1, ($0, 4)) })
        .merging([
            "add": ("+", 5), "subtract": ("-", 5), "multiply": ("*", 6), "divide": ("/", 6),
        ]) { first, _ in first }

    /// The words that are no fields without backquotes.
    static let reserved: Set<String> = ["and", "or", "not", "is", "in", "not-in", "as"]
}
