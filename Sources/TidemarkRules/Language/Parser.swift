/// Makes a tree of a file's words. Goes on behind an error, so that all are found at once.
struct Parser {
    let source: SourceText
    var lexer: Lexer
    var current: Token
    /// Where the word before the current one ends.
    var lastEnd = 0
    private(set) var issues: [RulesIssue] = []
    /// Parentheses, calls and the like that are open; bounds this code's own recursion.
    var openLevels = 0

    /// A word that does not belong where it stands. Ends a statement; the next one is read again.
    struct Unexpected: Error {}

    init(_ source: SourceText) {
        self.source = source
        lexer = Lexer(source.bytes)
        current = lexer.next()
    }

    /// The tree, and what is wrong with the file. The tree of a wrong file holds what was understood.
    static func parse(_ source: SourceText) -> (FileSyntax, [RulesIssue]) {
        var parser = Parser(source)
        let file = parser.file()
        let lexical = parser.lexer.faults.map {
            RulesIssue(.error, at: source.position(at: $0.offset), $0.message)
        }
        return (file, (lexical + parser.issues).sorted())
    }

    mutating func report(_ message: String, at offset: Int) {
        // A file that is none at all has an error at each word: the first ones do.
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

    /// Skips to behind the statement that has an error: its `;`, or the block it opened.
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
