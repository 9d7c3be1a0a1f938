public import Tidemark

/// Something about a feed that a person who looks into its cost or its marks wants to know.
public enum FeedEvent: Hashable, Sendable {
    /// A mark was moved, or was asked to.
    case moved(Marks.Name, Marks.Move)
    /// Another device of the user had cleared.
    case received(Marks.Move)
    /// A query asked only for what is above the clear mark.
    case used(Timestamp)
    /// A query above the clear mark failed: both marks are gone, and it is asked again without.
    case dropped(Marks, FirestoreError)
    /// The clear mark could not be put where the other devices find it.
    case notShared(FirestoreError)
    /// A read that was begun.
    case asked(ReadPlan)
}

/// How often what happened to a feed since it was made.
public struct FeedCounters: Hashable, Sendable {
    public private(set) var moves = 0
    /// Moves that stayed where they were, because marks only go forward.
    public private(set) var ignored = 0
    /// Moves ahead of the server's time, which went to that.
    public private(set) var clamped = 0
    public private(set) var resets = 0
    /// Moves that another device had made.
    public private(set) var received = 0
    public private(set) var uses = 0
    public private(set) var drops = 0
    public private(set) var plans = 0

    mutating func count(_ event: FeedEvent) {
        switch event {
        case .moved(_, let move): count(move)
        case .received(let move):
            received += 1
            count(move)
        case .used: uses += 1
        case .dropped: drops += 1
        case .notShared: break
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
