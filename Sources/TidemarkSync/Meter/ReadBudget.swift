/// The maximum number of reads per day for a scope, and the action at the limit. Writes, and the
/// reads of transactions, are never stopped.
///
/// A budget is checked before a call or a listen, and after each snapshot of a listener. One answer
/// may therefore exceed the budget; the next request is not sent.
public struct ReadBudget: Hashable, Sendable {
    /// The reads that a budget covers.
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
        /// Observers are informed, once a day.
        case warn
        /// Reads are answered from the cache. Listeners receive the cache's rows, marked as stale,
        /// with the reason. A request that only the server can answer is refused.
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

/// Decides which reads the budgets allow. The gate holds no counts: its caller provides the reads
/// of the day.
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
    /// The day of the last warning about each budget.
    private var warned: [ReadBudget: BillingDay] = [:]

    init(_ budgets: [ReadBudget] = []) { self.budgets = budgets }

    /// Returns the verdict of the strictest budget.
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

    /// Returns the budgets that were used up since the last call. Each is returned once a day.
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
