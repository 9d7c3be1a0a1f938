import Tidemark
import TidemarkModel

/// A query as the console's query bar takes it, on one line:
///
///     rooms/blue/messages where n >= 3 and owner == "ann" order by n desc limit 50
///
/// `**/messages` is the collection group. Conditions are joined by `and`. Values are written as in JSON;
/// a number with a point or an exponent is a double, one without is an integer. `timestamp "…"` and
/// `ref "rooms/blue"` make the types that JSON has no word for.
struct QueryText {
    private var tokens: [Token]
    private var place = 0
    private let database: DatabaseID

    /// - Throws: ``QueryTextError`` with a sentence that says what is wrong and where.
    static func parse(_ text: String, in database: DatabaseID) throws(QueryTextError) -> ModelQuery
    {
        var parser = QueryText(tokens: try Token.tokens(of: text), database: database)
        return try parser.query()
    }

    private init(tokens: [Token], database: DatabaseID) {
        self.tokens = tokens
        self.database = database
    }

    private mutating func query() throws(QueryTextError) -> ModelQuery {
        guard case .word(let target)? = take() else {
            throw QueryTextError("A query begins with a collection, as in rooms/blue/messages.")
        }
        var query = try Self.source(target)
        if takeWord("where") { query.filter = try filter() }
        if takeWord("order") {
            guard takeWord("by") else { throw QueryTextError("\"order\" is followed by \"by\".") }
            repeat { query.orders.append(try order()) } while takeSign(",")
        }
        if takeWord("limit") { query.limit = .first(try count(after: "limit")) }
        if takeWord("offset") { query.offset = try count(after: "offset") }
        if let extra = take() {
            throw QueryTextError("Nothing is expected at \"\(extra.text)\".")
        }
        return query
    }

    private static func source(_ text: String) throws(QueryTextError) -> ModelQuery {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        do throws(InvalidPath) {
            guard parts.count >= 2, parts[parts.count - 2] == "**" else {
                return ModelQuery(collection: try CollectionPath(text))
            }
            let above = parts.dropLast(2).joined(separator: "/")
            let id = try CollectionPath(parts[parts.count - 1]).text
            let parent = above.isEmpty ? nil : try DocumentPath(above)
            return ModelQuery(parent: parent, collectionID: id, allDescendants: true)
        } catch { throw QueryTextError(error.message) }
    }

    // MARK: Conditions

    private mutating func filter() throws(QueryTextError) -> ModelFilter {
        var filters = [try condition()]
        while takeWord("and") { filters.append(try condition()) }
        return filters.count == 1 ? filters[0] : .and(filters)
    }

    private mutating func condition() throws(QueryTextError) -> ModelFilter {
        let field = try fieldPath()
        if takeWord("is") {
            let isNot = takeWord("not")
            if takeWord("null") { return .unary(field, isNot ? .isNotNull : .isNull) }
            if takeWord("NaN") { return .unary(field, isNot ? .isNotNaN : .isNaN) }
            throw QueryTextError("\"is\" is followed by null, NaN, not null or not NaN.")
        }
        guard let token = take(),
            let operation = ModelFilter.Operator.allCases.first(where: { $0.sign == token.text })
        else {
            let signs = ModelFilter.Operator.allCases.map(\.sign).joined(separator: ", ")
            throw QueryTextError("After \(field) comes one of \(signs), or \"is\".")
        }
        return .field(field, operation, try value())
    }

    private mutating func order() throws(QueryTextError) -> Order {
        let field = try fieldPath()
        if takeWord("desc") { return Order(field, .descending) }
        _ = takeWord("asc")
        return Order(field)
    }

    private mutating func fieldPath() throws(QueryTextError) -> FieldPath {
        guard case .word(let text)? = take() else {
            throw QueryTextError("A field's name is missing.")
        }
        do throws(InvalidPath) { return try FieldPath(encoded: text) } catch {
            throw QueryTextError(error.message)
        }
    }

    private mutating func count(after word: String) throws(QueryTextError) -> Int {
        guard case .word(let text)? = take(), let count = Int(text), count >= 0 else {
            throw QueryTextError("\"\(word)\" is followed by a whole number.")
        }
        return count
    }

    // MARK: Values

    private mutating func value() throws(QueryTextError) -> Value {
        switch take() {
        case .string(let text)?: return .string(text)
        case .sign("[")?:
            var values: [Value] = []
            if takeSign("]") { return .array([]) }
            repeat { values.append(try value()) } while takeSign(",")
            guard takeSign("]") else { throw QueryTextError("A list ends with ].") }
            return .array(values)
        case .word(let word)?: return try value(word)
        case .sign(let sign)?: throw QueryTextError("\(sign) is no value.")
        case nil: throw QueryTextError("A value is missing at the end.")
        }
    }

    private mutating func value(_ word: String) throws(QueryTextError) -> Value {
        switch word {
        case "null": return .null
        case "true": return .boolean(true)
        case "false": return .boolean(false)
        case "NaN": return .double(.nan)
        case "timestamp":
            guard case .string(let text)? = take(), let time = Timestamp(rfc3339: text) else {
                throw QueryTextError(
                    "\"timestamp\" is followed by a time, as in \"2026-11-24T10:00:00Z\".")
            }
            return .timestamp(time)
        case "ref":
            guard case .string(let text)? = take(), let path = try? DocumentPath(text) else {
                throw QueryTextError("\"ref\" is followed by a path, as in \"rooms/blue\".")
            }
            return .reference(ReferenceValue(database: database, path: path))
        default:
            if let integer = Int64(word) { return .integer(integer) }
            if let double = Double(word) { return .double(double) }
            throw QueryTextError("\(word) is no value; a text stands in double quotes.")
        }
    }

    // MARK: Tokens

    private mutating func take() -> Token? {
        guard place < tokens.count else { return nil }
        defer { place += 1 }
        return tokens[place]
    }

    private mutating func takeWord(_ word: String) -> Bool {
        guard place < tokens.count, case .word(word) = tokens[place] else { return false }
        place += 1
        return true
    }

    private mutating func takeSign(_ sign: String) -> Bool {
        guard place < tokens.count, case .sign(sign) = tokens[place] else { return false }
        place += 1
        return true
    }
}

/// Why a text is no query, in a sentence.
struct QueryTextError: Error, Hashable, Sendable {
    let message: String

    init(_ message: String) { self.message = message }
}

/// A word, a text in quotes, or one of `[`, `]` and `,`.
private enum Token {
    case word(String), string(String), sign(String)

    var text: String {
        switch self {
        case .word(let text), .string(let text), .sign(let text): text
        }
    }

    /// The longest query that is read, in bytes.
    static let maxBytes = 20_000

    static func tokens(of text: String) throws(QueryTextError) -> [Token] {
        guard text.utf8.count <= maxBytes else {
            throw QueryTextError("A query has at most \(maxBytes) bytes.")
        }
        var tokens: [Token] = []
        var rest = text[...]
        while let first = rest.first {
            if first.isWhitespace {
                rest.removeFirst()
            } else if "[],".contains(first) {
                tokens.append(.sign(String(first)))
                rest.removeFirst()
            } else if first == "\"" {
                tokens.append(.string(try takeString(&rest)))
            } else {
                tokens.append(.word(takeWord(&rest)))
            }
        }
        return tokens
    }

    /// To the next space, bracket or comma; a field's name in backquotes is taken whole.
    private static func takeWord(_ rest: inout Substring) -> String {
        var word = ""
        var isQuoted = false
        while let next = rest.first, isQuoted || !(next.isWhitespace || "[],\"".contains(next)) {
            if next == "`" { isQuoted.toggle() }
            word.append(rest.removeFirst())
        }
        return word
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
        throw QueryTextError("A text is not closed by a double quote.")
    }
}
