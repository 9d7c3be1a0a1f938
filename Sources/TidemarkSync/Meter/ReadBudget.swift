/// How many reads of a day something may cost, and what happens at the bound. Writes, and the reads of
/// transactions, are never held up.
///
/// A budget is looked at before a call or a listen, and after each of a listener's snapshots: one
/// answer may exceed it, the next one is not asked for.
public struct ReadBudget: Hashable, Sendable {
    /// Which reads it is about.
    public enum Scope: Hashable, Sendable {
        case all
        case label(String)
        case screen(String)

        func contains(label: String, screen: String) -> Bool {
            switch self {
            case .all: true
            case .label(let name): name == label
            case .screen(let name): name == screen
            }
        }
    }

    public enum Action: String, Hashable, Sendable {
        /// Observers are told, once a day.
        case warn
        /// Reads are answered from the cache, and listeners shown it, as stale and with the reason. What
        /// only the server can answer is refused.
        case degradeToCache
        /// Reads and listeners fail with the reason.
        case refuse
    }

    public var scope: Scope
    public var readsPerDay: Int
    public var action: Action

    /// - Precondition: `readsPerDay` is not negative.
    public init(_ scope: Scope, readsPerDay: Int, _ action: Action) {
        precondition(readsPerDay >= 0)
        self.scope = scope
        self.readsPerDay = readsPerDay
        self.action = action
    }
}

/// Decides what the budgets allow. Pure: it is told what the day came to.
struct BudgetGate: Equatable, Sendable {
    enum Verdict: Equatable, Sendable {
        case allowed
        case degraded(ReadBudget)
        case refused(ReadBudget)

        var budget: ReadBudget? {
            switch self {
            case .allowed: nil
            case .degraded(let budget), .refused(let budget): budget
            }
        }
    }

    var budgets: [ReadBudget] = [] {
        didSet { warned = warned.filter { budgets.contains($0.key) } }
    }
    /// The day on which each was last told of.
    private var warned: [ReadBudget: BillingDay] = [:]

    init(_ budgets: [ReadBudget] = []) { self.budgets = budgets }

    /// The strictest one counts.
    func verdict(
        label: String, screen: String, spent: (ReadBudget.Scope) -> Int
    ) -> Verdict {
        var verdict = Verdict.allowed
        for budget in budgets
        where budget.action != .warn && budget.scope.contains(label: label, screen: screen)
            && spent(budget.scope) >= budget.readsPerDay
        {
            if budget.action == .refuse { return .refused(budget) }
            verdict = .degraded(budget)
        }
        return verdict
    }

    /// Those that were used up since the last time, each once a day.
    mutating func newlySpent(
        on day: BillingDay, spent: (ReadBudget.Scope) -> Int
    ) -> [ReadBudget] {
        budgets.filter { budget in
            guard warned[budget] != day, spent(budget.scope) >= budget.readsPerDay else {
                return false
            }
            warned[budget] = day
            return true
        }
    }
}
