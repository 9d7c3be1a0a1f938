public import TidemarkModel

/// An event for the observers of the meter.
public enum ReadEvent: Hashable, Sendable {
    /// These reads were billed now; ``ReadRow/reads`` counts only these.
    case billed(ReadRow)
    /// A budget was used up. This is reported once per day and budget.
    case budgetSpent(ReadBudget, on: BillingDay)
    /// A budget has reached one of its ``ReadBudget/notices``. The meter reports this once per day
    /// and notice.
    case budgetReached(ReadBudget, percent: Int, on: BillingDay)
    /// One listener's result was about to cost without an end. The event has the canonical form of
    /// its query, the cause of the repeated requests, and the length of the pause without requests.
    case stormStopped(query: String, ReadCause, pause: Duration)
    /// An attempt of a call failed, either a read or a transaction's commit. The next attempt
    /// follows after this time, or there is no next attempt.
    case attemptFailed(CallAttempt, nextAfter: Duration?)
}
