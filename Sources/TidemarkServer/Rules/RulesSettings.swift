public import TidemarkRules

/// Security rules that a server obeys, and what it tells those whom it refuses.
public struct RulesSettings: Sendable {
    public enum Errors: String, Hashable, Sendable, CaseIterable {
        /// Production's sentence, and nothing else.
        case production
        /// Which expression was not true, where it stands, and its values.
        case explained
    }

    public var rules: Ruleset
    public var errors: Errors
    /// Tokens of administrators beside `owner`: rules are not asked about their calls.
    public var administrators: Set<String>
    /// Whether the server remembers what the rules decided: the last requests, and the coverage of the
    /// file. What is recorded is evaluated once, and costs more processor time: a read 12 µs instead of 7,
    /// a commit of 500 writes 9 ms instead of 4 (measured with -O on 2026-11-25, best of 40).
    public var isRecorded = true

    public init(
        _ rules: Ruleset, errors: Errors = .explained, administrators: Set<String> = []
    ) {
        self.rules = rules
        self.errors = errors
        self.administrators = administrators
    }
}
