/// The rules that a world checks. Each violation names its rule.
package enum WorldCheck: String, CaseIterable, Sendable {
    // The server's data at the end.

    /// Every journalled or acknowledged write is there, with the commit time that was reported.
    case writesKept
    /// Writes that were rejected, refused or never made are not there.
    case writesRefused
    /// Every batch was applied as a whole and once.
    case writesCounted
    /// A writer's batches were applied in the order in which they were made.
    case writesOrdered
    /// The result of each batch was reported to its writer once and correctly.
    case writesTold
    /// Every account's balance equals its transfers.
    case transfers
    /// The documents that a transaction read were unchanged when it was committed.
    case transactionReads

    // The rows that clients show.

    /// Every version shown as the server's existed on the server.
    case versions
    /// Rows shown as the server's are those that it held at their read time.
    case freshRows
    /// The shown rows are those of the cache with the client's own writes on top.
    case cachedRows
    /// A read from the cache returns its rows with the client's own writes on top.
    case cacheReads
    /// A snapshot's changes lead from the previous rows to its rows.
    case changes
    /// A client's own write is shown immediately.
    case ownWrites
    /// Every shown value was written to that document.
    case values
    /// Read times never decrease.
    case readTimes
    /// No snapshot shows half of a transfer.
    case sums
    /// A live pipeline's rows are those of the cache with the client's own writes on top.
    case livePipelines
    /// A live pipeline's rows shown as the server's are those at its read time.
    case freshPipelines
    /// A user never sees another user's reads and writes.
    case users

    // The end of a history.

    /// Every client starts, answers, and shows the server's data once all faults are healed.
    case convergence

    // The rows of feeds and pagers.

    /// A feed's rows are in order, without duplicates, and of versions that were written.
    case feedOrder
    /// After a sync a feed shows a full read above its clear mark.
    case feedSyncs
    /// A listening feed that reports fresh data shows a full read at that read time.
    case feedLive
    /// The number of unread items is that of a full read.
    case feedUnread
    /// A feed's reads are those of its plans, and those that the server billed.
    case feedBill
    /// Marks move only as allowed, and hide the right items.
    case feedMarks
    /// Shown rows stay while nothing happens, and after a restart.
    case feedRest
    /// A pager shows a full read, as far as it has loaded.
    case pagers
    /// A pager's rows are in order, without duplicates.
    case pagerOrder
    /// Everything that a backfill counts as covered was sent or is held.
    case backfills
    /// No user waits longer than the deadline.
    case patience
}
