public import TidemarkModel

/// The maximum number of reads per day for a scope, and the action at the limit. Writes, and the
/// reads of transactions, are never stopped.
///
/// A budget is checked before a call or a listen, and after each snapshot of a listener. One answer
/// may therefore exceed the budget; the next request is not sent. A kill does not hide reads from a
/// budget that degrades or refuses: the reads of a request without an answer are taken as billed.
/// A budget applies to one user, because each user has a cache.
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
    /// The shares of the budget, in percent, at which observers are informed, each once a day.
    public var notices: [Int]

    /// - Parameter notices: Shares in percent, at which ``ReadEvent/budgetReached(_:percent:on:)``
    ///   is reported. The end of the budget is always reported.
    /// - Precondition: `readsPerDay` is not negative, and each notice is from 1 to 99.
    public init(_ scope: Scope, readsPerDay: Int, _ action: Action, notices: [Int] = []) {
        precondition(readsPerDay >= 0)
        precondition(notices.allSatisfy { (1...99).contains($0) })
        self.scope = scope
        self.readsPerDay = readsPerDay
        self.action = action
        self.notices = notices
    }
}

/// A budget, and the reads of a day that it counts.
public struct ReadBudgetState: Hashable, Sendable {
    public let budget: ReadBudget
    public let day: BillingDay
    /// The billed reads of the day.
    public let spent: Int
    /// The reads that requests without an answer may have cost; 0 for a budget that only warns.
    public let reserved: Int

    package init(_ budget: ReadBudget, on day: BillingDay, spent: Int, reserved: Int) {
        self.budget = budget
        self.day = day
        self.spent = spent
        self.reserved = reserved
    }

    /// The reads that are left; at least 0.
    public var remaining: Int { max(0, budget.readsPerDay - spent - reserved) }
    public var isUsedUp: Bool { remaining == 0 }
    /// The used share, from 0; above 1 if the last answer exceeded the budget.
    public var share: Double {
        budget.readsPerDay == 0 ? 1 : Double(spent + reserved) / Double(budget.readsPerDay)
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

    /// A share of a budget that was reached; 100 percent is its end.
    struct Notice: Hashable, Sendable {
        let budget: ReadBudget
        let percent: Int
    }

    var budgets: [ReadBudget] = [] {
        didSet { told = told.filter { budgets.contains($0.key.budget) } }
    }
    /// The last day on which each share was reported.
    private var told: [Notice: BillingDay] = [:]

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

    /// True if a budget with this label and screen can stop reads.
    func isStrict(label: String, screen: String) -> Bool {
        budgets.contains {
            $0.action != .warn && $0.scope.contains(label: label, screen: screen)
        }
    }

    /// Returns the shares that were reached since the last call, the lowest of each budget first.
    /// The function returns a notice once a day. After a start, call it first with the reads of
    /// earlier processes, which have reported their notices.
    mutating func reached(
        on day: BillingDay, spent: (ReadBudget.Scope) -> Int
    ) -> [Notice] {
        var result: [Notice] = []
        for budget in budgets {
            let reads = spent(budget.scope)
            for percent in budget.notices.sorted() + [100] {
                let notice = Notice(budget: budget, percent: percent)
                let isReached =
                    percent == 100
                    ? reads >= budget.readsPerDay
                    : Double(reads) * 100 >= Double(budget.readsPerDay) * Double(percent)
                guard isReached, told[notice] != day else { continue }
                told[notice] = day
                result.append(notice)
            }
        }
        return result
    }
}
