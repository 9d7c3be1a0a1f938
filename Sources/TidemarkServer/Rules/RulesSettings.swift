public import TidemarkRules

/// The security rules of a server, and the texts for refused callers.
public struct RulesSettings: Sendable {
    public enum Errors: String, Hashable, Sendable, CaseIterable {
        /// Only production's sentence.
        case production
        /// The false expression, its place, and its values.
        case explained
    }

    public var rules: Ruleset
    public var errors: Errors
    /// The tokens of administrators, in addition to `owner`. The rules do not apply to their calls.
    public var administrators: Set<String>
    /// True if the server records the decisions of the rules: the last requests, and the coverage
    /// of the file. Recording costs processor time: a read 12 µs instead of 7, a commit of 500
    /// writes 9 ms instead of 4 (measured with -O on 2026-11-25, best of 40).
    public var isRecorded = true

    public init(
        _ rules: Ruleset, errors: Errors = .explained, administrators: Set<String> = []
    ) {
        self.rules = rules
        self.errors = errors
        self.administrators = administrators
    }
}
