/// An expression as it is written.
struct Expression: Sendable {
    let kind: Kind
    /// Where its first word begins, in bytes.
    let start: Int
    let end: Int
    /// Levels below and with this one.
    let depth: Int

    indirect enum Kind: Sendable {
        case literal(RulesValue)
        case name(String)
        case list([Expression])
        case map([(key: Expression, value: Expression)])
        case path([PathPart])
        case not(Expression)
        case negative(Expression)
        case and([Expression])
        case or([Expression])
        case binary(BinaryOperator, Expression, Expression)
        case conditional(Expression, Expression, Expression)
        case isType(Expression, String)
        case member(Expression, String)
        case index(Expression, Expression)
        case slice(Expression, Expression, Expression)
        /// `f(a)`.
        case call(String, [Expression])
        /// `receiver.f(a)`, with the place of `f`.
        case method(Expression, String, [Expression], nameStart: Int)
    }

    enum PathPart: Sendable {
        case text(String)
        case expression(Expression)
    }
}

/// Operators whose operands are both needed.
enum BinaryOperator: String, Sendable {
    case equal = "=="
    case notEqual = "!="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
    case isIn = "in"
    case add = "+"
    case subtract = "-"
    case multiply = "*"
    case divide = "/"
    case remainder = "%"
}

/// What a request does with a document. `read` and `write` stand for several.
public enum RulesMethod: String, Hashable, Sendable, CaseIterable {
    case get, list, create, update, delete

    /// The methods that a word behind `allow` names.
    static func named(_ word: String) -> [RulesMethod]? {
        switch word {
        case "read": [.get, .list]
        case "write": [.create, .update, .delete]
        default: RulesMethod(rawValue: word).map { [$0] }
        }
    }
}

/// What stands between two slashes behind `match`.
enum PatternSegment: Hashable, Sendable {
    case literal(String)
    /// `{name}`.
    case one(String)
    /// `{name=**}`.
    case many(String)

    var captured: String? {
        switch self {
        case .literal: nil
        case .one(let name), .many(let name): name
        }
    }
}

struct AllowSyntax: Sendable {
    let methods: [RulesMethod]
    /// Nil for an `allow` without `if`.
    let condition: Expression?
    /// Where the condition begins, its parentheses included.
    let conditionStart: Int
    let start: Int
    let end: Int
}

struct FunctionSyntax: Sendable {
    let name: String
    let parameters: [String]
    let variables: [(name: String, value: Expression, start: Int)]
    let result: Expression
    let start: Int
}

struct MatchSyntax: Sendable {
    var pattern: [PatternSegment]
    var allows: [AllowSyntax] = []
    var functions: [FunctionSyntax] = []
    var matches: [MatchSyntax] = []
    let start: Int
}

/// A file as it is written.
struct FileSyntax: Sendable {
    var version = 1
    var functions: [FunctionSyntax] = []
    var services: [ServiceSyntax] = []
}

struct ServiceSyntax: Sendable {
    let name: String
    var functions: [FunctionSyntax] = []
    var matches: [MatchSyntax] = []
    let start: Int
}
