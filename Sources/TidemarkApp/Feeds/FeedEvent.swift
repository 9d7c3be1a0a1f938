public import Tidemark

/// An event of a feed, for the analysis of its cost or of its marks.
public enum FeedEvent: Hashable, Sendable {
    /// The app moved a mark, or asked to move it.
    case moved(Marks.Name, Marks.Move)
    /// Another device of the user had cleared the feed.
    case received(Marks.Move)
    /// A query asked only for items above the clear mark.
    case used(Timestamp)
    /// A query above the clear mark failed: both marks are removed, and the query runs again
    /// without them.
    case dropped(Marks, FirestoreError)
    /// The clear mark could not be written to the document that the other devices read.
    case notShared(FirestoreError)
    /// An audit of a feed by change time found this number of documents that the change times had
    /// hidden: they were deleted, left the filters, or were written without a change time. Told
    /// once for each such audit.
    case foundByAudit(Int)
    /// A read began.
    case asked(ReadPlan)
}

/// The number of events of each kind since the feed was created.
public struct FeedCounters: Hashable, Sendable {
    public private(set) var moves = 0
    /// Moves that changed nothing, because marks only move forward.
    public private(set) var ignored = 0
    /// Moves ahead of the server's time, which were reduced to that time.
    public private(set) var clamped = 0
    public private(set) var resets = 0
    /// Moves of another device.
    public private(set) var received = 0
    public private(set) var uses = 0
    public private(set) var drops = 0
    public private(set) var plans = 0
    /// Documents that change times had hidden, and that audits found.
    public private(set) var hidden = 0

    mutating func count(_ event: FeedEvent) {
        switch event {
        case .moved(_, let move): count(move)
        case .received(let move):
            received += 1
            count(move)
        case .used: uses += 1
        case .dropped: drops += 1
        case .notShared: break
        case .foundByAudit(let count): hidden += count
        case .asked: plans += 1
        }
    }

    private mutating func count(_ move: Marks.Move) {
        switch move {
        case .moved: moves += 1
        case .clamped: clamped += 1
        case .ignored: ignored += 1
        case .reset: resets += 1
        }
    }
}
