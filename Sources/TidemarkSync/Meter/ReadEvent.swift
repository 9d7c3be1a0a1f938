public import TidemarkModel

/// What observers of the meter are told.
public enum ReadEvent: Hashable, Sendable {
    /// These reads were billed now; ``ReadRow/reads`` counts them alone.
    case billed(ReadRow)
    /// A budget was used up. Once a day and budget.
    case budgetSpent(ReadBudget, on: BillingDay)
    /// One listener's result was about to cost without an end: its query's canonical form, what was asked
    /// for again and again, and how long nothing is asked for now.
    case stormStopped(query: String, ReadCause, pause: Duration)
    /// An attempt of a call failed, a read's or a transaction's commit: the next one follows after so
    /// long, or there is none.
    case attemptFailed(CallAttempt, nextAfter: Duration?)
}
