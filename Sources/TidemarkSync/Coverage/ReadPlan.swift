public import TidemarkModel

/// What a feed is going to ask the server, what it will cost, and why.
public struct ReadPlan: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        /// Goes on with a listen that was open within the last 30 minutes: only what changed since.
        case resume
        /// What changed since the last read.
        case delta
        /// Figures of what is held, to be compared with the server's.
        case audit
        /// A part that is not held.
        case page
        /// Everything above the clear mark.
        case full
        /// The clear mark of the user's other devices.
        case marks
    }

    /// How many reads will be billed. What cannot be known beforehand is a range.
    public struct Prediction: Hashable, Sendable {
        public var atLeast: Int
        /// Nil where only the server knows.
        public var atMost: Int?
        /// If nothing has changed since the last read; nil where that says nothing.
        public var ifUnchanged: Int?

        public init(atLeast: Int, atMost: Int?, ifUnchanged: Int? = nil) {
            self.atLeast = atLeast
            self.atMost = atMost
            self.ifUnchanged = ifUnchanged
        }

        /// Whether a bill is what was predicted, give or take one read.
        public func allows(_ reads: Int) -> Bool {
            reads >= atLeast - 1 && (atMost.map { reads <= $0 + 1 } ?? true)
        }
    }

    /// What is asked.
    package enum Question: Hashable, Sendable {
        /// What has a change time from the first on, behind the second.
        case changes(since: Timestamp, after: Place?)
        /// Items of a range, the newest first. What is held there and is not among them goes.
        case items(Range<CoveragePosition>)
        /// How many items these ranges have.
        case figures([Range<CoveragePosition>])
        /// The marks that the user's devices share.
        case marks
    }

    public struct Place: Hashable, Sendable {
        public let changeTime: Timestamp
        public let path: DocumentPath
    }

    /// For a feed that is complete without a read.
    package static let nothing = ReadPlan(
        kind: .audit, question: .figures([]), pageSize: 1,
        prediction: Prediction(atLeast: 0, atMost: 0, ifUnchanged: 0),
        reason: "Everything is held.")
    package static let sharedMarks = ReadPlan(
        kind: .marks, question: .marks, pageSize: 1,
        prediction: Prediction(atLeast: 1, atMost: 1, ifUnchanged: 1),
        reason: "Where the user's other devices have cleared is one document.")

    public let kind: Kind
    package let question: Question
    /// Rows that one call brings at the most.
    public let pageSize: Int
    public let prediction: Prediction
    /// In a sentence.
    public let reason: String
    /// Whether what was held before it is given up when it arrives: a bounded feed was away for so long
    /// that the newest items cost less than all that has changed.
    package var beginsAnew = false

    /// Changes from this server time on; nil where it is not asked by change.
    public var since: Timestamp? {
        if case .changes(let since, _) = question { since } else { nil }
    }

    /// Items above this time only; nil for all.
    public var floor: Timestamp? {
        guard case .items(let range) = question, range.lowerBound != .lowest else { return nil }
        return range.lowerBound.time
    }
}
