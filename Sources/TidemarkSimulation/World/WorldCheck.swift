/// The comparisons that a world makes. Each violation names the one that found it.
package enum WorldCheck: String, CaseIterable, Sendable {
    // What the server holds in the end.

    /// What was journalled or acknowledged is there, as of the time that was told.
    case writesKept
    /// What was rejected, refused or made by nobody is not there.
    case writesRefused
    /// Every batch was applied once, and whole.
    case writesCounted
    /// A writer's batches were applied in the order in which they were made.
    case writesOrdered
    /// What a writer is told of a batch is told once, and is true.
    case writesTold
    /// Accounts hold what the transfers come to.
    case transfers
    /// What a transaction has read was still so when it was committed.
    case transactionReads

    // What is shown.

    /// A version that is shown as the server's is one that the server held.
    case versions
    /// Rows that are shown as the server's are those that it held at their read time.
    case freshRows
    /// Rows that are shown are those of the cache with one's own writes on top.
    case cachedRows
    /// What is read from the cache is its rows with one's own writes on top.
    case cacheReads
    /// A snapshot's changes lead from the rows before to its rows.
    case changes
    /// One's own write is shown at once.
    case ownWrites
    /// Every value that is shown was written there by somebody.
    case values
    /// Read times do not go back.
    case readTimes
    /// No moment shows a transfer half done.
    case sums
    /// What one user writes and reads is never another's.
    case users

    // How it ends.

    /// With everything mended, all start, answer, and show what the server holds.
    case convergence

    // Feeds.

    /// A feed's rows are in order, each once, and of versions that somebody wrote.
    case feedOrder
    /// After a sync a feed shows a full read above its clear mark.
    case feedSyncs
    /// A feed that listens and says that it is fresh shows a full read at that read time.
    case feedLive
    /// The number of unread items is that of a full read.
    case feedUnread
    /// A feed's reads are what its plans said, and what the server billed.
    case feedBill
    /// Marks move as they may, and hide what they should.
    case feedMarks
    /// What is shown stays, where nothing happens and after another start.
    case feedRest
    /// A pager shows a full read, as far as it got.
    case pagers
    /// A pager's rows are in order, each once.
    case pagerOrder
    /// What a backfill counts as covered was sent, or is held.
    case backfills
    /// No person waits longer than they were told.
    case patience
}
