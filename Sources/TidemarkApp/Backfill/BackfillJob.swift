public import Tidemark
public import TidemarkWords

/// A range of history that a device must have, or must have sent, completely: newest first.
public struct BackfillJob: Hashable, Sendable {
    /// The job's name, also on disk.
    public let name: String
    /// The priority. The larger number comes first; among equal jobs, the job with the newest gap
    /// comes first.
    public let priority: Int
    /// The start of the range; items at this time are included.
    public let oldest: Timestamp
    /// The end of the range; items at this time are excluded.
    public let newest: Timestamp
    /// The length of the window that a user waits for: it is shown before anything older is
    /// fetched.
    public let firstWindow: Duration
    /// The length of each window behind the first.
    public let window: Duration

    /// - Precondition: `oldest < newest`; windows have at least a second.
    public init(
        name: String, from oldest: Timestamp, to newest: Timestamp, priority: Int = 0,
        firstWindow: Duration = .seconds(7 * 86_400), window: Duration = .seconds(30 * 86_400)
    ) {
        precondition(oldest < newest, "a history of nothing")
        precondition(firstWindow >= .seconds(1) && window >= .seconds(1))
        self.name = name
        self.oldest = oldest
        self.newest = newest
        self.priority = priority
        self.firstWindow = firstWindow
        self.window = window
    }

    package var range: Range<CoveragePosition> {
        .start(of: oldest)..<CoveragePosition.start(of: newest)
    }

    /// The number of windows.
    package var windowCount: Int {
        let beyond = newest.seconds - oldest.seconds - firstWindow.components.seconds
        let length = window.components.seconds
        return 1 + Int(max(0, (beyond + length - 1) / length))
    }

    /// Returns a window. Window 0 is the newest.
    package func window(_ number: Int) -> Range<CoveragePosition> {
        let length = window.components.seconds
        func edge(_ number: Int) -> Timestamp {
            if number == 0 { return newest }
            let back = firstWindow.components.seconds + Int64(number - 1) * length
            return max(
                oldest,
                Timestamp(seconds: newest.seconds - back, nanoseconds: newest.nanoseconds))
        }
        return .start(of: edge(number + 1))..<CoveragePosition.start(of: edge(number))
    }

    /// Returns the newest part without coverage, within a single window; nil if everything is
    /// covered.
    package func nextGap(_ coverage: Coverage) -> (window: Int, range: Range<CoveragePosition>)? {
        guard let gap = coverage.gaps(in: range).last else { return nil }
        var (low, high) = (0, windowCount - 1)
        // This is the window in which the gap ends: the first whose lower edge is below the end.
        while low < high {
            let middle = (low + high) / 2
            if window(middle).lowerBound < gap.upperBound {
                high = middle
            } else {
                low = middle + 1
            }
        }
        return (low, max(gap.lowerBound, window(low).lowerBound)..<gap.upperBound)
    }

    /// Returns the number of completely covered windows.
    package func windowsDone(_ coverage: Coverage) -> Int {
        (0..<windowCount).count { coverage.contains(window($0)) }
    }
}

/// The part that a source has found, from the upper end of the requested range down.
public struct BackfillPart<Items: Sendable>: Sendable {
    public let items: Items
    /// The lower end of the part; everything from here up is in the part. If the range is complete,
    /// this is the range's lower end, or a lower position if the source knows that nothing is
    /// there. It is never the upper end, which would be no progress and counts as a failure.
    public let reached: CoveragePosition
    /// The time as of which the part is complete.
    public let asOf: Timestamp
    public let samples: Int
    public let bytes: Int
    /// The number of billed reads.
    public let reads: Int

    public init(
        _ items: Items, reached: CoveragePosition, asOf: Timestamp, samples: Int, bytes: Int = 0,
        reads: Int = 0
    ) {
        precondition(samples >= 0 && bytes >= 0 && reads >= 0)
        self.items = items
        self.reached = reached
        self.asOf = asOf
        self.samples = samples
        self.bytes = bytes
        self.reads = reads
    }
}

/// The reason why a step of a backfill did not succeed.
public enum BackfillFailure: Error, Hashable, Sendable {
    /// A failure that may pass: the step is retried, after growing delays.
    case transient(String)
    /// A failure that will not pass: the job ends, and others continue.
    case permanent(String)
    /// The source reported success without progress.
    case stalled

    /// The sentence in the language of the app.
    public var message: String { sentence.localized() }

    /// A sentence for a person who uses the app.
    public var sentence: Sentence {
        switch self {
        case .transient:
            Sentence(
                "backfill.transient",
                "Older items can't be loaded right now. We'll try again.")
        case .permanent: Sentence("backfill.permanent", "Older items can't be loaded.")
        case .stalled:
            Sentence(
                "backfill.stalled",
                "Older items can't be loaded. Please contact support.")
        }
    }
}

/// A source of history. The backfill requests one part at a time.
public protocol BackfillSource<Items>: Sendable {
    associatedtype Items: Sendable

    /// Returns the newest part of the range, with a bounded size, from the range's upper end down.
    func fetch(
        _ range: Range<CoveragePosition>
    ) async throws(BackfillFailure) -> BackfillPart<Items>
}

/// A sink of history. Each call may be repeated with the same items, after a failure or a kill, and
/// must then change nothing.
public protocol BackfillSink<Items>: Sendable {
    associatedtype Items: Sendable

    /// Returns the coverage so far, including earlier runs of the app.
    func coverage() async throws(BackfillFailure) -> Coverage
    /// Stores the items on this device. Returns when they are durable.
    func store(_ items: Items) async throws(BackfillFailure)
    /// Sends the items. Returns when the server has them.
    /// - Returns: The number of writes.
    func upload(_ items: Items) async throws(BackfillFailure) -> Int
    /// Makes the coverage durable.
    func cover(_ coverage: Coverage) async throws(BackfillFailure)
}
