public import TidemarkModel

/// Decides the faults of each call: rules in, effects out. The plan is pure; the random numbers
/// come from outside.
public struct FaultPlan: Sendable {
    /// The maximum number of rules; more are refused.
    public static let maxRules = 100

    /// A rule, with the number of its matching calls and of its applications.
    public struct Entry: Hashable, Sendable {
        public let rule: FaultRule
        public fileprivate(set) var matched = 0
        public fileprivate(set) var applied = 0
    }

    public private(set) var entries: [Entry]

    /// - Precondition: There are at most ``maxRules`` rules.
    public init(_ rules: [FaultRule] = []) {
        precondition(rules.count <= Self.maxRules)
        entries = rules.map { Entry(rule: $0) }
    }

    /// Returns the effects on a call. If two rules set the same effect, the first counts.
    ///
    /// - Parameters:
    ///   - method: The RPC; nil for a request that is no RPC, which only rules for every RPC match.
    ///   - roll: Returns a number in `0 ..< 1`; called once for each matching rule with a share.
    /// - Returns: The effects; nil if there is no fault.
    public mutating func effects(
        on method: RPCMethod?, label: String?, roll: () -> Double
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
    fileprivate func matches(_ method: RPCMethod?, _ label: String?) -> Bool {
        if let wanted = self.method, wanted != method { return false }
        guard let wanted = self.label else { return true }
        return label.map { wanted.utf8.elementsEqual($0.utf8) } ?? false
    }
}
