/// Parses a file into a tree. Continues after an error, so that all errors are found in one pass.
struct Parser {
    let source: SourceText
    var lexer: Lexer
    var current: Token
    /// The end of the token before the current one.
    var lastEnd = 0
    private(set) var issues: [RulesIssue] = []
    /// The number of open parentheses, calls and so on. Bounds the parser's own recursion.
    var openLevels = 0

    /// The error for an unexpected token. Ends a statement; parsing continues with the next one.
    struct Unexpected: Error {}

    init(_ source: SourceText) {
        self.source = source
        lexer = Lexer(source.bytes)
        current = lexer.next()
    }

    /// Returns the tree and the errors. With errors, the tree holds the valid parts.
    static func parse(_ source: SourceText) -> (FileSyntax, [RulesIssue]) {
        var parser = Parser(source)
        let file = parser.file()
        let lexical = parser.lexer.faults.map {
            RulesIssue(.error, at: source.position(at: $0.offset), $0.message)
        }
        return (file, (lexical + parser.issues).sorted())
    }

    mutating func report(_ message: String, at offset: Int) {
        // A text that is not a rules file has an error at each token; the first errors suffice.
        guard issues.count < 200 else { return }
        issues.append(RulesIssue(.error, at: source.position(at: offset), message))
    }

    // MARK: Words

    mutating func advance() {
        lastEnd = current.end
        current = lexer.next()
    }

    mutating func takeSymbol(_ symbol: String) -> Bool {
        guard current.isSymbol(symbol) else { return false }
        advance()
        return true
    }

    mutating func takeWord(_ word: String) -> Bool {
        guard current.isWord(word) else { return false }
        advance()
        return true
    }

    func unexpected() -> Unexpected { Unexpected() }

    mutating func expectSymbol(_ symbol: String) throws(Unexpected) {
        if takeSymbol(symbol) { return }
        throw refuse("Missing '\(symbol)' before \(current.shown).")
    }

    mutating func expectName(_ what: String) throws(Unexpected) -> String {
        guard current.kind == .name else {
            throw refuse("Missing \(what) before \(current.shown).")
        }
        defer { advance() }
        return current.text
    }

    mutating func refuse(_ message: String) -> Unexpected {
        report(message, at: current.start)
        return Unexpected()
    }

    /// Skips the statement that has an error: to after its `;`, or after the block that it opened.
    mutating func recover() {
        var depth = 0
        while current.kind != .end {
            if current.isSymbol("{") { depth += 1 }
            if current.isSymbol("}") {
                if depth == 0 { return }
                depth -= 1
                if depth == 0 { return advance() }
            }
            if depth == 0, current.isSymbol(";") { return advance() }
            if depth == 0, ["match", "allow", "function", "service"].contains(current.text),
                current.kind == .name
            {
                return
            }
            advance()
        }
    }
}
