import TidemarkModel

@testable import TidemarkPipelines

/// Reads expressions of the tests' tables, for example `add(1, a.b)`.
///
/// - Literals: `1`, `1.5`, `NaN`, `inf`, `'text'`, `b'bytes'`, `true`, `null`, `[1, 2]`,
///   `{a: 1}`, `vec[1, 2]`, `geo(1, 2)`, `ts'2026-01-02T03:04:05Z'`, `ref'/books/b1'`.
/// - `absent` is a field that no row has, `fails` an expression that is an error.
/// - `$x` is a variable; other names are fields, or functions before a parenthesis.
struct ExpressionText {
    private var rest: Substring.UnicodeScalarView

    private init(_ text: String) { rest = text[...].unicodeScalars }

    static func parse(_ text: String) -> Pipeline.Expression {
        var parser = ExpressionText(text)
        let result = parser.expression()
        precondition(parser.rest.isEmpty, "the text continues: \(String(parser.rest))")
        return result
    }

    /// Reads a stage: its name, its arguments with commas between, and behind `|` its options as a
    /// map.
    static func stage(_ line: Substring) -> Pipeline.Stage {
        let parts = line.split(separator: " | ")
        let name = parts[0].prefix { $0 != " " }
        var parser = ExpressionText(String(parts[0].dropFirst(name.count)) + ";")
        let arguments = parser.list(";")
        var options: [Pipeline.Entry] = []
        if parts.count > 1, case .map(let entries) = parse(String(parts[1])) { options = entries }
        return Pipeline.Stage(name: String(name), arguments: arguments, options: options)
    }

    private mutating func skipSpaces() { rest = rest.drop { $0 == " " } }

    private mutating func take(_ text: String) -> Bool {
        guard rest.starts(with: text.unicodeScalars) else { return false }
        rest.removeFirst(text.unicodeScalars.count)
        return true
    }

    private mutating func expression() -> Pipeline.Expression {
        skipSpaces()
        defer { skipSpaces() }
        if take("b'") { return .constant(.bytes(Array(quoted().utf8))) }
        if take("ts'") { return .constant(.timestamp(Timestamp(rfc3339: quoted())!)) }
        if take("ref'") { return .reference(quoted()) }
        if take("'") { return .constant(.string(quoted())) }
        if take("vec[") { return vector(list("]")) }
        if take("[") { return .array(list("]")) }
        if take("{") { return .map(entries()) }
        return word()
    }

    private mutating func quoted() -> String {
        var text = String.UnicodeScalarView()
        while let scalar = rest.popFirst(), scalar != "'" { text.append(scalar) }
        return String(text)
    }

    private mutating func list(_ end: String) -> [Pipeline.Expression] {
        var elements: [Pipeline.Expression] = []
        skipSpaces()
        while !take(end) {
            elements.append(expression())
            if take(",") { skipSpaces() }
        }
        return elements
    }

    private mutating func entries() -> [Pipeline.Entry] {
        var entries: [Pipeline.Entry] = []
        skipSpaces()
        while !take("}") {
            let key = take("'") ? quoted() : name()
            skipSpaces()
            precondition(take(":"), "a key needs a colon")
            entries.append(Pipeline.Entry(key: key, value: expression()))
            if take(",") { skipSpaces() }
        }
        return entries
    }

    private mutating func name() -> String {
        let part = rest.prefix {
            $0.properties.isAlphabetic || "0123456789_.+-$`".unicodeScalars.contains($0)
        }
        precondition(!part.isEmpty, "a name is missing before \(String(rest))")
        rest = rest[part.endIndex...]
        return String(part)
    }

    private mutating func word() -> Pipeline.Expression {
        let name = name()
        if take("(") {
            let arguments = list(")")
            if name == "geo" { return .constant(.geoPoint(Self.point(arguments))) }
            return .call(name, arguments)
        }
        switch name {
        case "null": return .constant(.null)
        case "true": return .constant(.boolean(true))
        case "false": return .constant(.boolean(false))
        case "NaN": return .constant(.double(.nan))
        case "inf": return .constant(.double(.infinity))
        case "-inf": return .constant(.double(-.infinity))
        case "absent": return .field("no_row_has_this")
        case "fails": return .call("error", [.constant(.string("planned"))])
        default: break
        }
        if name.hasPrefix("$") { return .variable(String(name.dropFirst())) }
        if let number = Int64(name) { return .constant(.integer(number)) }
        if let number = Double(name) { return .constant(.double(number)) }
        return .field(name)
    }

    private static func number(_ expression: Pipeline.Expression) -> Double {
        switch expression {
        case .constant(.integer(let number)): Double(number)
        case .constant(.double(let number)): number
        default: preconditionFailure("not a number")
        }
    }

    private static func point(_ arguments: [Pipeline.Expression]) -> GeoPoint {
        GeoPoint(latitude: number(arguments[0]), longitude: number(arguments[1]))
    }

    private func vector(_ elements: [Pipeline.Expression]) -> Pipeline.Expression {
        .constant(.vector(VectorValue(elements.map(Self.number))))
    }
}
