public import TidemarkModel

/// Decides what goes wrong with each call: rules in, effects out. Pure; the dice come from outside.
public struct FaultPlan: Sendable {
    /// Rules at once; more are refused.
    public static let maxRules = 100

    /// A rule, and how often it has been asked and has applied.
    public struct Entry: Hashable, Sendable {
        public let rule: FaultRule
        public fileprivate(set) var matched = 0
        public fileprivate(set) var applied = 0
    }

    public private(set) var entries: [Entry]

    /// - Precondition: No more than ``maxRules``.
    public init(_ rules: [FaultRule] = []) {
        precondition(rules.count <= Self.maxRules)
        entries = rules.map { Entry(rule: $0) }
    }

    /// What happens to a call. Of two rules that say the same of it, the first counts.
    ///
    /// - Parameter roll: In `0 ..< 1`; asked once for each rule with a share that matches.
    /// - Returns: Nil when nothing goes wrong.
    public mutating func effects(
        on method: RPCMethod, label: String?, roll: () -> Double
    ) -> FaultEffects? {
        var effects: FaultEffects?
        for index in entries.indices where entries[index].rule.matches(method, label) {
            guard entries[index].applies(roll) else { continue }
            if effects == nil {
                effects = entries[index].rule.effects
            } else {
                effects?.fill(from: entries[index].rule.effects)
            }
        }
        return effects
    }
}

extension FaultPlan.Entry {
    fileprivate mutating func applies(_ roll: () -> Double) -> Bool {
        matched += 1
        if let times = rule.times, applied >= times { return false }
        let isSelected =
            switch rule.selection {
            case .all: true
            case .share(let share): roll() < share
            case .every(let count): matched % count == 0
            case .nth(let count): matched == count
            }
        if isSelected { applied += 1 }
        return isSelected
    }
}

extension FaultRule {
    fileprivate func matches(_ method: RPCMethod, _ label: String?) -> Bool {
        if let wanted = self.method, wanted != method { return false }
        guard let wanted = self.label else { return true }
        return label.map { wanted.utf8.elementsEqual($0.utf8) } ?? false
    }
}
