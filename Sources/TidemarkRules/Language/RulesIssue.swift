/// An error in a rules file, or a warning for its author.
public struct RulesIssue: Hashable, Sendable, Comparable, CustomStringConvertible {
    public enum Severity: String, Hashable, Sendable {
        /// The file cannot be used.
        case error
        /// The file can be used, but probably does not do what its author intended.
        case warning
    }

    public let severity: Severity
    public let position: SourceText.Position
    /// A sentence: production's text, where it has one.
    public let message: String

    init(_ severity: Severity, at position: SourceText.Position, _ message: String) {
        self.severity = severity
        self.position = position
        self.message = message
    }

    public static func < (left: Self, right: Self) -> Bool {
        left.position < right.position
    }

    /// The form in which production prints an issue: `L4:14 Unexpected '}'.`
    public var description: String { "L\(position) \(message)" }
}

/// The errors of an invalid rules file, in the order of the text. Never empty.
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

/// Production's limits for a file and an evaluation. Where the documentation and production's
/// answers differ, the answers count.
public enum RulesLimits {
    /// The maximum size of a file in bytes.
    public static let sourceBytes = 256 * 1024
    /// The maximum depth of an expression: each operator, call and pair of parentheses is a level.
    static let expressionLevels = 98
    /// The maximum nesting of `match`.
    static let matchLevels = 10
    static let pathSegments = 100
    static let captures = 20
    /// The maximum length of a chain of function calls. The documentation says 20; production
    /// accepts 21.
    static let callDepth = 21
    /// The maximum number of `let`s in a function. The documentation says 10; production accepts
    /// 11.
    static let variables = 11
    static let arguments = 7
    /// The maximum number of expressions that a request can evaluate.
    public static let evaluations = 1_000
    /// The maximum number of `allow`s that the operations of a request can try together. Production
    /// documents no such limit; a file of 5,000 blocks that match every path would take seconds for
    /// a commit of 500 writes.
    public static let allowsPerRequest = 20_000
    /// The maximum number of documents that rules can read for a single-operation request, and for
    /// each operation of a larger one.
    public static let readsPerOperation = 10
    /// The maximum number of documents that rules of storage can read for a request.
    public static let readsPerObject = 2
    /// The maximum number of documents that rules can read for a batch, a transaction or a read of
    /// several documents.
    public static let readsPerRequest = 20
}
