/// A word, a text in quotes, or a sign such as `[` or `,`.
enum QueryToken: Hashable {
    case word(String), string(String), sign(String)

    var text: String {
        switch self {
        case .word(let text), .string(let text), .sign(let text): text
        }
    }

    /// The longest query that is read, in bytes.
    static let maxBytes = 20_000

    /// The signs of a query, and those of a pipeline.
    static let querySigns = "[](),"
    static let pipelineSigns = "[](),{}:|"

    static func tokens(
        of text: String, signs: String = querySigns
    ) throws(QueryTextError) -> [QueryToken] {
        guard text.utf8.count <= maxBytes else {
            throw QueryTextError("A query can have at most \(maxBytes) bytes.")
        }
        var tokens: [QueryToken] = []
        var rest = text[...]
        while let first = rest.first {
            if first.isWhitespace {
                rest.removeFirst()
            } else if signs.contains(first) {
                tokens.append(.sign(String(first)))
                rest.removeFirst()
            } else if first == "\"" {
                tokens.append(.string(try takeString(&rest)))
            } else {
                tokens.append(.word(takeWord(&rest, signs)))
            }
        }
        return tokens
    }

    /// Takes a word up to the next space, bracket or comma; a field's name in backquotes is taken
    /// completely.
    private static func takeWord(_ rest: inout Substring, _ signs: String) -> String {
        var word = ""
        var isQuoted = false
        while let next = rest.first, isQuoted || !isEnd(next, signs) {
            if next == "`" { isQuoted.toggle() }
            word.append(rest.removeFirst())
        }
        return word
    }

    private static func isEnd(_ next: Character, _ signs: String) -> Bool {
        next.isWhitespace || next == "\"" || signs.contains(next)
    }

    private static func takeString(_ rest: inout Substring) throws(QueryTextError) -> String {
        rest.removeFirst()
        var text = ""
        while let next = rest.popFirst() {
            if next == "\"" { return text }
            guard next == "\\" else {
                text.append(next)
                continue
            }
            switch rest.popFirst() {
            case "n"?: text.append("\n")
            case "t"?: text.append("\t")
            case let other?: text.append(other)
            case nil: break
            }
        }
        throw QueryTextError("A closing double quote is missing.")
    }
}
