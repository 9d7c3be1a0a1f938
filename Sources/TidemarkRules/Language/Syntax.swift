/// An expression of the syntax tree, with unresolved names.
struct Expression: Sendable {
    let kind: Kind
    /// The start of the expression's first token, in bytes.
    let start: Int
    let end: Int
    /// The number of levels, including this one.
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
        /// With the place of the operator, in bytes.
        case binary(BinaryOperator, Expression, Expression, symbolStart: Int)
        case conditional(Expression, Expression, Expression)
        case isType(Expression, String)
        case member(Expression, String)
        case index(Expression, Expression)
        case slice(Expression, Expression, Expression)
        /// A function call, `f(a)`.
        case call(String, [Expression])
        /// A method call, `receiver.f(a)`, with the position of `f`.
        case method(Expression, String, [Expression], nameStart: Int)
    }

    enum PathPart: Sendable {
        case text(String)
        case expression(Expression)
    }
}

/// Operators that need both operands.
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

/// The operation of a request on a document. `read` and `write` each mean several.
public enum RulesMethod: String, Hashable, Sendable, CaseIterable {
    case get, list, create, update, delete

    /// Returns the methods that a word after `allow` means.
    static func named(_ word: String) -> [RulesMethod]? {
        switch word {
        case "read": [.get, .list]
        case "write": [.create, .update, .delete]
        default: RulesMethod(rawValue: word).map { [$0] }
        }
    }
}

/// A segment of a path after `match`.
enum PatternSegment: Hashable, Sendable {
    case literal(String)
    /// A wildcard `{name}`.
    case one(String)
    /// A recursive wildcard `{name=**}`.
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
    /// The condition; nil for an `allow` without `if`.
    let condition: Expression?
    /// The start of the condition, including its parentheses.
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

/// The syntax tree of a file.
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
