extension Parser {
    /// Parses the path after `match`, from its first slash. The current token is `match`.
    mutating func pattern() throws(Unexpected) -> [PatternSegment] {
        _ = skipToSlash()
        var segments: [PatternSegment] = []
        while lexer.peek() == UInt8(ascii: "/") {
            let start = lexer.offset
            lexer.offset += 1
            if lexer.peek() == UInt8(ascii: "{") {
                advance()
                segments.append(try wildcard())
            } else if let text = segmentText() {
                segments.append(.literal(text))
            } else {
                advance()
                report("Missing a path segment before \(current.shown).", at: start)
                throw unexpected()
            }
        }
        lastEnd = lexer.offset
        current = lexer.next()
        return segments
    }

    private mutating func skipToSlash() -> Bool {
        while let byte = lexer.peek(), byte != UInt8(ascii: "/") { lexer.offset += 1 }
        return lexer.peek() != nil
    }

    /// Parses `{name}` or `{name=**}`. Leaves the lexer after the closing brace.
    private mutating func wildcard() throws(Unexpected) -> PatternSegment {
        advance()
        guard current.kind == .name else {
            throw refuse("Missing a name before \(current.shown).")
        }
        let name = current.text
        advance()
        var isMany = false
        if takeSymbol("=") {
            try expectSymbol("*")
            try expectSymbol("*")
            isMany = true
        }
        guard current.isSymbol("}") else { throw refuse("Missing '}' before \(current.shown).") }
        lexer.offset = current.end
        return isMany ? .many(name) : .one(name)
    }

    /// Parses a path in an expression. The current token is its first slash.
    mutating func pathLiteral() throws(Unexpected) -> [Expression.PathPart] {
        lexer.offset = current.start
        var parts: [Expression.PathPart] = []
        while lexer.peek() == UInt8(ascii: "/") {
            let start = lexer.offset
            lexer.offset += 1
            if lexer.peek() == UInt8(ascii: "$"), lexer.peek(1) == UInt8(ascii: "(") {
                lexer.offset += 2
                current = lexer.next()
                parts.append(.expression(try expression()))
                guard current.isSymbol(")") else {
                    throw refuse("Missing ')' before \(current.shown).")
                }
                lexer.offset = current.end
            } else if let text = segmentText() {
                parts.append(.text(text))
            } else {
                current = lexer.next()
                report("Missing a path segment before \(current.shown).", at: start)
                throw unexpected()
            }
        }
        lastEnd = lexer.offset
        current = lexer.next()
        return parts
    }

    /// Reads a literal segment: letters, digits and the other characters of ids, or `(default)`.
    private mutating func segmentText() -> String? {
        let start = lexer.offset
        let database = Array("(default)".utf8)
        if database.indices.allSatisfy({ lexer.peek($0) == database[$0] }) {
            lexer.offset += database.count
            return "(default)"
        }
        var bytes: [UInt8] = []
        while let byte = lexer.peek(),
            byte.isWord || byte >= 0x80 || "-.~%@+".utf8.contains(byte)
        {
            bytes.append(byte)
            lexer.offset += 1
        }
        return lexer.offset == start ? nil : String(decoding: bytes, as: UTF8.self)
    }
}
