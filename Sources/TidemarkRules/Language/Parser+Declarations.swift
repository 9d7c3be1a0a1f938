extension Parser {
    mutating func file() -> FileSyntax {
        var file = FileSyntax()
        while current.kind != .end {
            let start = current.start
            do throws(Unexpected) {
                try topLevel(&file)
            } catch {
                if current.start == start { advance() }
                recover()
                _ = takeSymbol("}")
            }
        }
        if file.services.isEmpty, issues.isEmpty {
            report("Missing 'service' before end of file.", at: current.start)
        }
        return file
    }

    private mutating func topLevel(_ file: inout FileSyntax) throws(Unexpected) {
        if current.isWord("rules_version") {
            file.version = try version(isFirst: file.functions.isEmpty && file.services.isEmpty)
        } else if current.isWord("function") {
            file.functions.append(try function())
        } else if current.isWord("service") {
            file.services.append(try service())
        } else if current.isWord("import") {
            throw refuse("Imports are not supported.")
        } else {
            throw refuse("Unexpected \(current.shown).")
        }
    }

    private mutating func version(isFirst: Bool) throws(Unexpected) -> Int {
        let start = current.start
        advance()
        try expectSymbol("=")
        guard current.kind == .string, current.text == "1" || current.text == "2" else {
            throw refuse("Invalid rules version: \(current.shown). Use '1' or '2'.")
        }
        let version = current.text == "1" ? 1 : 2
        advance()
        try expectSymbol(";")
        if !isFirst { report("rules_version must be the first statement of the file.", at: start) }
        return version
    }

    private mutating func service() throws(Unexpected) -> ServiceSyntax {
        let start = current.start
        advance()
        var name = try expectName("the service's name")
        while takeSymbol(".") { name += "." + (try expectName("the service's name")) }
        var service = ServiceSyntax(name: name, start: start)
        try block { (parser: inout Parser) throws(Unexpected) in
            if parser.current.isWord("function") {
                service.functions.append(try parser.function())
            } else if parser.current.isWord("match") {
                service.matches.append(try parser.match(level: 1))
            } else {
                throw parser.refuse("Unexpected \(parser.current.shown).")
            }
        }
        return service
    }

    /// Parses the statements between braces, and skips those with errors.
    private mutating func block(
        _ statement: (inout Parser) throws(Unexpected) -> Void
    ) throws(Unexpected) {
        try expectSymbol("{")
        while !current.isSymbol("}") {
            if current.kind == .end { throw refuse("Missing '}' before end of file.") }
            let start = current.start
            do throws(Unexpected) {
                try statement(&self)
            } catch {
                if current.start == start { advance() }
                recover()
            }
        }
        advance()
    }

    private mutating func match(level: Int) throws(Unexpected) -> MatchSyntax {
        let start = current.start
        if level > RulesLimits.matchLevels {
            throw refuse("Maximum allowed match depth of \(RulesLimits.matchLevels) is reached.")
        }
        // The path after `match` is read as one text from its first slash.
        guard lexerIsAtSlash() else {
            advance()
            throw refuse("Missing '/' before \(current.shown).")
        }
        var match = MatchSyntax(pattern: try pattern(), start: start)
        try block { (parser: inout Parser) throws(Unexpected) in
            if parser.current.isWord("allow") {
                match.allows.append(try parser.allow())
            } else if parser.current.isWord("function") {
                match.functions.append(try parser.function())
            } else if parser.current.isWord("match") {
                match.matches.append(try parser.match(level: level + 1))
            } else {
                throw parser.refuse("Unexpected \(parser.current.shown).")
            }
        }
        return match
    }

    private mutating func lexerIsAtSlash() -> Bool {
        var copy = lexer
        return copy.next().isSymbol("/")
    }

    private mutating func allow() throws(Unexpected) -> AllowSyntax {
        let start = current.start
        advance()
        var methods: [RulesMethod] = []
        repeat {
            let place = current.start
            let word = try expectName("a method")
            guard let named = RulesMethod.named(word) else {
                report("Invalid method: '\(word)'.", at: place)
                continue
            }
            methods += named.filter { !methods.contains($0) }
        } while takeSymbol(",")
        var condition: Expression?
        var conditionStart = start
        if takeSymbol(":") {
            guard takeWord("if") else { throw refuse("Missing 'if' before \(current.shown).") }
            conditionStart = current.start
            condition = try expression()
        }
        let end = lastEnd
        try expectSymbol(";")
        return AllowSyntax(
            methods: methods, condition: condition, conditionStart: conditionStart, start: start,
            end: end)
    }

    private mutating func function() throws(Unexpected) -> FunctionSyntax {
        let start = current.start
        advance()
        let name = try expectName("the function's name")
        try expectSymbol("(")
        var parameters: [String] = []
        if !current.isSymbol(")") {
            repeat { parameters.append(try expectName("a parameter")) } while takeSymbol(",")
        }
        try expectSymbol(")")
        try expectSymbol("{")
        var variables: [(name: String, value: Expression, start: Int)] = []
        while current.isWord("let") {
            let place = current.start
            advance()
            let name = try expectName("the variable's name")
            try expectSymbol("=")
            let value = try expression()
            try expectSymbol(";")
            variables.append((name, value, place))
        }
        guard takeWord("return") else { throw refuse("Missing 'return' before \(current.shown).") }
        let result = try expression()
        _ = takeSymbol(";")
        try expectSymbol("}")
        return FunctionSyntax(
            name: name, parameters: parameters, variables: variables, result: result, start: start)
    }
}
