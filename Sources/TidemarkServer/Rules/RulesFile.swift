public import TidemarkRules

/// Keeps rules in step with a file: takes a valid new text, and keeps the old rules if the new text
/// is invalid.
///
/// A pure machine; ``RulesFileWatch`` reads the file and performs the effects.
public struct RulesFile: Sendable {
    /// The contents at the file's path.
    public enum Contents: Hashable, Sendable {
        case text(String)
        /// The file cannot be read. The text is a sentence.
        case unreadable(String)
    }

    public enum Effect: Sendable {
        case put(Ruleset)
        /// A line for the server's operator.
        case say(String)
    }

    /// The file's path, for messages.
    public let name: String
    /// The rules in force; nil before the first.
    public private(set) var rules: Ruleset?
    /// The problems of the present file; the rules are then those of an earlier text.
    public private(set) var problems: [String] = []
    private var last: Contents?
    private let service: RulesService

    /// - Parameter service: The service whose rules are read.
    public init(_ name: String, service: RulesService = .firestore) {
        self.name = name
        self.service = service
    }

    /// Takes the contents at the path. Unchanged contents have no effect.
    public mutating func step(_ contents: Contents) -> [Effect] {
        if contents == last { return [] }
        let isFirst = last == nil
        last = contents
        switch contents {
        case .unreadable(let reason):
            return refused([reason])
        case .text(let text):
            do throws(InvalidRules) {
                let new = try Ruleset(text, service: service)
                problems = []
                rules = new
                let advice = service == .firestore ? new.advice : new.warnings
                let warnings = advice.map { Effect.say("\(name): warning: \($0)") }
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
            ? "There are no previous rules." : "The previous rules stay in force."
        return (reasons.prefix(20) + [kept]).map { .say("\(name): \($0)") }
    }
}
