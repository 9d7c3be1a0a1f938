import Foundation
import TidemarkModel

/// A query in the form of the console's query bar, on one line:
///
///     rooms/blue/messages where n >= 3 and owner == "ann" order by n desc limit 50
///
/// `**/messages` is the collection group. Conditions are joined by `and` and `or`, with
/// parentheses. Values are written as in JSON; a number with a point or an exponent is a double, a
/// number without is an integer. `timestamp "…"`, `ref "rooms/blue"`, `bytes "BASE64"`,
/// `point(1.5, 2)` and `vector[1, 2]` create the types that JSON does not have. `count of …`,
/// `sum of n of …` and `average of n of …` compute;
/// `nearest embedding to [1, 2] by cosine limit 10` is at the end.
struct QueryText {
    private var tokens: [QueryToken]
    private var place = 0
    private let database: DatabaseID
    /// The number of lists, expressions and pipelines around the place.
    var depth = 0

    /// - Throws: ``QueryTextError`` with a sentence about the problem and its place.
    static func parse(_ text: String, in database: DatabaseID) throws(QueryTextError) -> AskedQuery
    {
        var parser = QueryText(tokens: try QueryToken.tokens(of: text), database: database)
        let aggregations = try parser.aggregations()
        return AskedQuery(query: try parser.query(), aggregations: aggregations)
    }

    init(tokens: [QueryToken], database: DatabaseID) {
        self.tokens = tokens
        self.database = database
    }

    private mutating func query() throws(QueryTextError) -> ModelQuery {
        guard case .word(let target)? = take() else {
            throw QueryTextError("A query must begin with a collection, as in rooms/blue/messages.")
        }
        var query = try Self.source(target)
        if takeWord("where") { query.filter = try filter() }
        if takeWord("order") {
            guard takeWord("by") else { throw QueryTextError("Expected \"by\" after \"order\".") }
            repeat { query.orders.append(try order()) } while takeSign(",")
        }
        if takeWord("start") { query.start = try cursor(["at": true, "after": false]) }
        if takeWord("end") { query.end = try cursor(["before": true, "at": false]) }
        if takeWord("limit") { query.limit = .first(try count(after: "limit")) }
        if takeWord("last") { query.limit = .last(try count(after: "last")) }
        if takeWord("offset") { query.offset = try count(after: "offset") }
        if takeWord("nearest") { query.findNearest = try nearest() }
        if let extra = take() {
            throw QueryTextError("Unexpected \"\(extra.text)\".")
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

    /// The maximum depth of nested parentheses and lists.
    static let maxDepth = 20

    private mutating func filter(_ depth: Int = 0) throws(QueryTextError) -> ModelFilter {
        var filters = [try conjunction(depth)]
        while takeWord("or") { filters.append(try conjunction(depth)) }
        return filters.count == 1 ? filters[0] : .or(filters)
    }

    private mutating func conjunction(_ depth: Int) throws(QueryTextError) -> ModelFilter {
        var filters = [try factor(depth)]
        while takeWord("and") { filters.append(try factor(depth)) }
        return filters.count == 1 ? filters[0] : .and(filters)
    }

    private mutating func factor(_ depth: Int) throws(QueryTextError) -> ModelFilter {
        guard takeSign("(") else { return try condition() }
        if depth == Self.maxDepth { throw QueryTextError("Too many nested parentheses.") }
        let inner = try filter(depth + 1)
        guard takeSign(")") else { throw QueryTextError("A closing parenthesis is missing.") }
        return inner
    }

    private mutating func cursor(_ words: [String: Bool]) throws(QueryTextError) -> Cursor {
        for (word, before) in words where takeWord(word) {
            guard case .array(let values) = try value() else { break }
            return Cursor(values: values, before: before)
        }
        throw QueryTextError(
            "A cursor must be start at, start after, end at or end before, with a list of values.")
    }

    private mutating func condition() throws(QueryTextError) -> ModelFilter {
        let field = try fieldPath()
        if takeWord("is") {
            let isNot = takeWord("not")
            if takeWord("null") { return .unary(field, isNot ? .isNotNull : .isNull) }
            if takeWord("NaN") { return .unary(field, isNot ? .isNotNaN : .isNaN) }
            throw QueryTextError("Expected null, NaN, not null or not NaN after \"is\".")
        }
        guard let token = take(),
            let operation = ModelFilter.Operator.allCases.first(where: { $0.sign == token.text })
        else {
            let signs = ModelFilter.Operator.allCases.map(\.sign).joined(separator: ", ")
            throw QueryTextError("Expected one of \(signs) or \"is\" after \(field).")
        }
        return .field(field, operation, try value())
    }

    private mutating func order() throws(QueryTextError) -> Order {
        let field = try fieldPath()
        if takeWord("desc") { return Order(field, .descending) }
        _ = takeWord("asc")
        return Order(field)
    }

    mutating func fieldPath() throws(QueryTextError) -> FieldPath {
        guard case .word(let text)? = take() else {
            throw QueryTextError("A field name is missing.")
        }
        do throws(InvalidPath) { return try FieldPath(encoded: text) } catch {
            throw QueryTextError(error.message)
        }
    }

    mutating func count(after word: String) throws(QueryTextError) -> Int {
        guard case .word(let text)? = take(), let count = Int(text), count >= 0 else {
            throw QueryTextError("Expected a whole number after \"\(word)\".")
        }
        return count
    }

    // MARK: Values

    mutating func value() throws(QueryTextError) -> Value {
        switch take() {
        case .string(let text)?: return .string(text)
        case .sign("[")?:
            depth += 1
            defer { depth -= 1 }
            if depth > Self.maxDepth { throw QueryTextError("Too many nested lists.") }
            var values: [Value] = []
            if takeSign("]") { return .array([]) }
            repeat { values.append(try value()) } while takeSign(",")
            guard takeSign("]") else { throw QueryTextError("Expected ] at the end of the list.") }
            return .array(values)
        case .word(let word)?: return try value(word)
        case .sign(let sign)?: throw QueryTextError("\(sign) is not a value.")
        case nil: throw QueryTextError("A value is missing at the end.")
        }
    }

    mutating func value(_ word: String) throws(QueryTextError) -> Value {
        switch word {
        case "null": return .null
        case "true": return .boolean(true)
        case "false": return .boolean(false)
        case "NaN": return .double(.nan)
        case "point": return try point()
        case "vector":
            guard case .array(let values) = try value() else {
                throw QueryTextError("Expected a list of numbers after \"vector\".")
            }
            return .vector(VectorValue(try numbers(values)))
        case "bytes":
            guard case .string(let text)? = take(), let data = Data(base64Encoded: text) else {
                throw QueryTextError("Expected base64 in quotes after \"bytes\".")
            }
            return .bytes(Array(data))
        case "timestamp":
            guard case .string(let text)? = take(), let time = Timestamp(rfc3339: text) else {
                throw QueryTextError(
                    "Expected a time after \"timestamp\", as in \"2026-11-24T10:00:00Z\".")
            }
            return .timestamp(time)
        case "ref":
            guard case .string(let text)? = take(), let path = try? DocumentPath(text) else {
                throw QueryTextError("Expected a path after \"ref\", as in \"rooms/blue\".")
            }
            return .reference(ReferenceValue(database: database, path: path))
        default:
            if let integer = Int64(word) { return .integer(integer) }
            if let double = Double(word) { return .double(double) }
            throw QueryTextError("\(word) is not a value. Put text in double quotes.")
        }
    }

    private mutating func point() throws(QueryTextError) -> Value {
        guard takeSign("("), let latitude = try numbers([try value()]).first, takeSign(","),
            let longitude = try numbers([try value()]).first, takeSign(")"),
            GeoPoint.isValid(latitude: latitude, longitude: longitude)
        else {
            throw QueryTextError(
                """
                A point must be a latitude and a longitude, as in point(1.5, 2).
                """)
        }
        return .geoPoint(GeoPoint(latitude: latitude, longitude: longitude))
    }

    func numbers(_ values: [Value]) throws(QueryTextError) -> [Double] {
        var numbers: [Double] = []
        for value in values {
            switch value {
            case .integer(let number): numbers.append(Double(number))
            case .double(let number): numbers.append(number)
            default: throw QueryTextError("Expected a number.")
            }
        }
        return numbers
    }

    // MARK: Tokens

    /// Returns the text of a following token; nil at the end.
    func peek(_ distance: Int) -> String? {
        place + distance < tokens.count ? tokens[place + distance].text : nil
    }

    /// Returns the token at a distance from the place; nil behind the end.
    func token(_ distance: Int = 0) -> QueryToken? {
        place + distance < tokens.count ? tokens[place + distance] : nil
    }

    mutating func take() -> QueryToken? {
        guard place < tokens.count else { return nil }
        defer { place += 1 }
        return tokens[place]
    }

    mutating func takeWord(_ word: String) -> Bool {
        guard place < tokens.count, case .word(word) = tokens[place] else { return false }
        place += 1
        return true
    }

    mutating func takeSign(_ sign: String) -> Bool {
        guard place < tokens.count, case .sign(sign) = tokens[place] else { return false }
        place += 1
        return true
    }
}

/// The reason why a text is no query, as a sentence.
struct QueryTextError: Error, Hashable, Sendable {
    let message: String

    init(_ message: String) { self.message = message }
}
