public import TidemarkModel

/// A feed's next request to the server, its cost, and its reason.
public struct ReadPlan: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        /// Continues a listen that was open within the last 30 minutes, and reads only later
        /// changes.
        case resume
        /// Reads the changes since the last read.
        case delta
        /// Compares figures of held items with the server's.
        case audit
        /// Counts the changes, to choose between reading them and reading the newest items.
        case count
        /// Reads a part that is not held.
        case page
        /// Reads everything above the clear mark.
        case full
        /// Reads the clear mark of the user's other devices.
        case marks
    }

    /// The number of reads that will be billed, as a range if it cannot be known in advance.
    public struct Prediction: Hashable, Sendable {
        public var atLeast: Int
        /// The maximum; nil if only the server knows it.
        public var atMost: Int?
        /// The number if nothing has changed since the last read; nil if unknown.
        public var ifUnchanged: Int?
        /// The number of rows if nothing has changed; nil if unknown. A query without rows costs a
        /// read too.
        package var rowsIfUnchanged: Int?

        public init(atLeast: Int, atMost: Int?, ifUnchanged: Int? = nil) {
            self.atLeast = atLeast
            self.atMost = atMost
            self.ifUnchanged = ifUnchanged
        }

        /// Returns true if a bill matches the prediction, with a tolerance of one read.
        public func allows(_ reads: Int) -> Bool {
            reads >= atLeast - 1 && (atMost.map { reads <= $0 + 1 } ?? true)
        }
    }

    /// The content of the request.
    package enum Question: Hashable, Sendable {
        /// The documents with a change time from `since`, after the position `after`.
        case changes(since: Timestamp, after: Place?)
        /// The items of a range, newest first. Held items that are not among them are removed.
        case items(Range<CoveragePosition>)
        /// The number of items in these ranges.
        case figures([Range<CoveragePosition>])
        /// The number of documents with a change time from `since`, counted up to a maximum.
        case changeCount(since: Timestamp, upTo: Int)
        /// The marks that the user's devices share.
        case marks
    }

    public struct Place: Hashable, Sendable {
        public let changeTime: Timestamp
        public let path: DocumentPath
    }

    /// The plan of a feed that is complete without a read.
    package static let nothing = ReadPlan(
        kind: .audit, question: .figures([]), pageSize: 1,
        prediction: Prediction(atLeast: 0, atMost: 0, ifUnchanged: 0),
        reason: "All items are stored.")
    package static let sharedMarks = ReadPlan(
        kind: .marks, question: .marks, pageSize: 1,
        prediction: Prediction(atLeast: 1, atMost: 1, ifUnchanged: 1),
        reason: "The clear mark of the user's other devices is one document.")

    /// The plan of a listener to the marks that goes on with an earlier one.
    package static let resumedMarks = ReadPlan(
        kind: .resume, question: .marks, pageSize: 1,
        prediction: Prediction(atLeast: 0, atMost: 1, ifUnchanged: 0),
        reason: "The listener to the clear mark was open less than 30 minutes ago, so it resumes.")

    public let kind: Kind
    package let question: Question
    /// The maximum number of rows of one call.
    public let pageSize: Int
    public let prediction: Prediction
    /// The reason in a sentence.
    public let reason: String
    /// True if the result replaces all held items: a bounded feed was inactive for so long that
    /// reading the newest items costs less than reading all changes.
    package var beginsAnew = false

    /// The server time from which changes are requested; nil for other requests.
    public var since: Timestamp? {
        if case .changes(let since, _) = question { since } else { nil }
    }

    /// The time above which items are requested; nil for all items.
    public var floor: Timestamp? {
        guard case .items(let range) = question, range.lowerBound != .lowest else { return nil }
        return range.lowerBound.time
    }
}
