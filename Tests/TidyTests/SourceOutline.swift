/// Lists the types that a file declares and extends, with the number of their stored properties.
struct SourceOutline {
    struct Part: Equatable {
        enum Kind: String { case `struct`, `class`, `enum`, `actor`, `protocol`, `extension` }

        /// The name with the enclosing types, as in `Outer.Inner`.
        var name: String
        var kind: Kind
        /// True if only its own file sees the type, or the members of the extension.
        var isPrivate = false
        var storedProperties = 0
        /// True if the part has a member that other files see.
        var hasVisibleMembers = false
    }

    private(set) var parts: [Part] = []

    private let tokens: [String]
    private var place = 0
    /// The braces around the current place: the index of a part, or nil for a function or other
    /// block.
    private var braces: [(part: Int?, parentheses: Int)] = []
    private var parentheses = 0
    /// The modifiers of the current declaration.
    private var modifiers: Set<String> = []

    init(_ text: String) {
        tokens = SwiftTokens.of(text)
        while place < tokens.count { step() }
    }

    /// The part whose body directly contains the current place.
    private var around: Int? { braces.last?.part }

    private var isAmongDeclarations: Bool {
        parentheses == 0 && (braces.isEmpty || around != nil)
    }

    private mutating func step() {
        let token = tokens[place]
        place += 1
        switch token {
        case "(", "[": parentheses += 1
        case ")", "]": parentheses -= 1
        case "{": open(nil)
        case "}":
            if let brace = braces.popLast() { parentheses = brace.parentheses }
            modifiers = []
        case "\n", ";":
            if place < 2 || tokens[place - 2] != ")" { modifiers = [] }
        default: if isAmongDeclarations { readWord(token) }
        }
    }

    private mutating func open(_ part: Int?) {
        braces.append((part, parentheses))
        parentheses = 0
    }

    private mutating func readWord(_ word: String) {
        switch word {
        case "var", "let": readProperties(isLet: word == "let")
        case "func", "init", "subscript", "typealias", "case", "deinit":
            noteMember()
            if word == "func" { place += 1 }
        case "class" where ["func", "var", "let", "subscript"].contains(next()):
            modifiers.insert("static")
        case "struct", "class", "enum", "actor", "protocol", "extension":
            if modifiers.contains("import") { return }
            readType(SourceOutline.Part.Kind(rawValue: word)!)
        default: modifiers.insert(word)
        }
    }

    private func next() -> String { place < tokens.count ? tokens[place] : "" }

    private mutating func noteMember() {
        guard let around, !isPrivateHere, !parts[around].isPrivate else { return }
        parts[around].hasVisibleMembers = true
    }

    private var isPrivateHere: Bool {
        modifiers.contains("private") || modifiers.contains("fileprivate")
    }

    // MARK: Types

    private mutating func readType(_ kind: Part.Kind) {
        var name = ""
        var depth = 0
        while place < tokens.count {
            let token = tokens[place]
            if depth == 0, ["{", ":", "where", "<", "\n"].contains(token) { break }
            if token == "[" { depth += 1 }
            if token == "]" { depth -= 1 }
            name += token.filter { $0 != "`" }
            place += 1
        }
        while place < tokens.count, tokens[place] != "{" { place += 1 }
        place += 1
        let isInPrivate = around.map { parts[$0].isPrivate } ?? false
        let outer = around.map { parts[$0].name + "." } ?? ""
        noteMember()
        parts.append(
            Part(name: outer + name, kind: kind, isPrivate: isPrivateHere || isInPrivate))
        open(parts.count - 1)
        modifiers = []
    }

    // MARK: Properties

    private mutating func readProperties(isLet: Bool) {
        let isStatic = modifiers.contains("static")
        noteMember()
        modifiers = []
        var names = 1
        var isComputed = false
        var isInitialized = false
        var depth = 0
        loop: while place < tokens.count {
            let token = tokens[place]
            switch token {
            case "(", "[": depth += 1
            case ")", "]": depth -= 1
            case "<" where !isInitialized: depth += 1
            case ">" where !isInitialized && tokens[place - 1] != "-": depth -= 1
            case ",": if depth == 0 { names += 1 }
            case "=": if depth == 0 { isInitialized = true }
            case "{":
                if depth == 0 {
                    isComputed = !isInitialized && !isObserved(at: place + 1)
                    break loop
                }
            case "}": break loop
            case "\n", ";":
                if depth == 0, !goesOn(at: place) { break loop }
            default: break
            }
            place += 1
        }
        guard let around, parts[around].kind != .protocol, !isStatic, !isComputed else { return }
        parts[around].storedProperties += names
    }

    /// True if the accessors that begin here leave the property stored.
    private func isObserved(at start: Int) -> Bool {
        guard let first = tokens[start...].first(where: { $0 != "\n" }) else { return false }
        return first == "didSet" || first == "willSet"
    }

    /// True if a declaration continues on the next line.
    private func goesOn(at end: Int) -> Bool {
        if [":", ","].contains(tokens[end - 1]) { return true }
        return tokens[end...].first { $0 != "\n" } == "{"
    }
}
