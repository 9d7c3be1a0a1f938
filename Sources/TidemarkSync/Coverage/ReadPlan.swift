public import TidemarkModel

/// What a feed is going to ask the server, what it will cost, and why.
public struct ReadPlan: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        /// Everything above the clear mark, page by page.
        case first
        /// The rest of a read that was cut off.
        case rest
        /// What changed since the last read.
        case delta
    }

    /// How many reads will be billed.
    public struct Prediction: Hashable, Sendable {
        public var atLeast: Int
        /// Nil where only the server knows.
        public var atMost: Int?
    }

    public let kind: Kind
    /// Changes from this server time on; nil for all.
    public let since: Timestamp?
    /// Items above this time only; nil for all.
    public let floor: Timestamp?
    /// Changes behind this one: where the pages before ended.
    public let after: Place?
    public let pageSize: Int
    public let prediction: Prediction
    /// In a sentence.
    public let reason: String

    public struct Place: Hashable, Sendable {
        public let changeTime: Timestamp
        public let path: DocumentPath
    }
}

/// Picks the cheapest read that is complete. Pure: from what is stored to a plan.
package enum ReadPlanner {
    /// - Parameters:
    ///   - action: The clear mark.
    ///   - pageSize: Rows a call, at least 1.
    package static func plan(
        _ progress: FeedProgress, action: Timestamp?, pageSize: Int
    ) -> ReadPlan {
        precondition(pageSize > 0)
        let cursor = progress.cursor
        if let drain = cursor.drain {
            return ReadPlan(
                kind: .rest, since: drain.since, floor: drain.floor,
                after: ReadPlan.Place(changeTime: drain.lastChangeTime, path: drain.lastPath),
                pageSize: pageSize, prediction: ReadPlan.Prediction(atLeast: 1, atMost: nil),
                reason: "The last read was cut off, so it goes on where it stopped.")
        }
        guard let since = cursor.since else {
            return ReadPlan(
                kind: .first, since: nil, floor: action, after: nil, pageSize: pageSize,
                prediction: ReadPlan.Prediction(atLeast: 1, atMost: nil),
                reason: action == nil
                    ? "Nothing is held yet, so everything is read once."
                    : "Nothing is held yet, so everything above the clear mark is read once.")
        }
        // Rows of the overlap come again unless they changed, and then as their new version.
        let repeated = cursor.seen.values.count { $0.changeTime >= since }
        return ReadPlan(
            kind: .delta, since: since, floor: nil, after: nil, pageSize: pageSize,
            prediction: ReadPlan.Prediction(atLeast: max(1, repeated), atMost: nil),
            reason: "Everything up to the last read is held, so only what changed since is read, "
                + "with \(cursor.overlap) of overlap for writes that were under way.")
    }
}
