public import TidemarkRules

/// Keeps rules like a file: takes a new text when it is right, and keeps the old one when it is not.
///
/// A pure machine; ``RulesFileWatch`` reads the file and obeys.
public struct RulesFile: Sendable {
    /// What is at the file's path.
    public enum Contents: Hashable, Sendable {
        case text(String)
        /// It cannot be read: a sentence.
        case unreadable(String)
    }

    public enum Effect: Sendable {
        case put(Ruleset)
        /// A line for whoever runs the server.
        case say(String)
    }

    /// Its path, as messages name it.
    public let name: String
    /// The rules that are kept; nil before there are any.
    public private(set) var rules: Ruleset?
    /// What is wrong with the file as it is now; the rules are then those of an earlier text.
    public private(set) var problems: [String] = []
    private var last: Contents?

    public init(_ name: String) { self.name = name }

    /// Takes what was found at the path. The same as before changes nothing.
    public mutating func step(_ contents: Contents) -> [Effect] {
        if contents == last { return [] }
        let isFirst = last == nil
        last = contents
        switch contents {
        case .unreadable(let reason):
            return refused([reason])
        case .text(let text):
            do throws(InvalidRules) {
                let new = try Ruleset(text)
                problems = []
                rules = new
                let warnings = new.advice.map { Effect.say("\(name): warning: \($0)") }
                let told = isFirst ? [] : [Effect.say("\(name): the new rules are in force.")]
                return [.put(new)] + warnings + told
            } catch {
                return refused(error.issues.map(\.description))
            }
        }
    }

    private mutating func refused(_ reasons: [String]) -> [Effect] {
        problems = reasons
        let kept =
            rules == nil
            ? "There are no rules before it." : "The rules before it stay in force."
        return (reasons.prefix(20) + [kept]).map { .say("\(name): \($0)") }
    }
}
