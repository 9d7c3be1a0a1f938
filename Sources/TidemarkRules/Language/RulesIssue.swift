/// Something that is wrong with a rules file, or that its author should know.
public struct RulesIssue: Hashable, Sendable, Comparable, CustomStringConvertible {
    public enum Severity: String, Hashable, Sendable {
        /// The file cannot be used.
        case error
        /// The file can be used; what is said is likely not meant.
        case warning
    }

    public let severity: Severity
    public let position: SourceText.Position
    /// One sentence. Where production has a text for it, that text.
    public let message: String

    init(_ severity: Severity, at position: SourceText.Position, _ message: String) {
        self.severity = severity
        self.position = position
        self.message = message
    }

    public static func < (left: Self, right: Self) -> Bool {
        left.position < right.position
    }

    /// As production prints it: `L4:14 Unexpected '}'.`
    public var description: String { "L\(position) \(message)" }
}

/// Why a file is no rules: every error in it, in the order of the text. Never empty.
public struct InvalidRules: Error, Hashable, Sendable, CustomStringConvertible {
    public let issues: [RulesIssue]

    init(_ issues: [RulesIssue]) {
        precondition(!issues.isEmpty)
        self.issues = issues
    }

    public var description: String {
        issues.map(\.description).joined(separator: "\n")
    }
}

/// What production accepts of a file and of an evaluation. Where its documents and its answers differ,
/// its answers count.
public enum RulesLimits {
    /// Bytes of a file.
    public static let sourceBytes = 256 * 1024
    /// Levels of an expression: each operator, call and pair of parentheses is one.
    static let expressionLevels = 98
    /// `match` inside `match`.
    static let matchLevels = 10
    static let pathSegments = 100
    static let captures = 20
    /// Functions that call one another. 20 are documented, 21 accepted.
    static let callDepth = 21
    /// `let` in one function. 10 are documented, 11 accepted.
    static let variables = 11
    static let arguments = 7
    /// Expressions that one request may evaluate.
    public static let evaluations = 1_000
    /// Documents that the rules of one request, or of one operation of several, may read.
    public static let readsPerOperation = 10
    /// Documents that the rules of a batch, a transaction or a read of several documents may read.
    public static let readsPerRequest = 20
}
