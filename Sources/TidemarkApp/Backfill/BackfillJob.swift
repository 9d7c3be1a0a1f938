public import Tidemark
public import TidemarkWords

/// A stretch of history that a device is to hold, or to have sent, completely: newest first.
public struct BackfillJob: Hashable, Sendable {
    /// What it is called, also on disk.
    public let name: String
    /// The larger goes first; equal ones take turns by how new their gaps are.
    public let priority: Int
    /// Items from here on.
    public let oldest: Timestamp
    /// Items before this.
    public let newest: Timestamp
    /// The window that a person waits for: shown before anything older is fetched.
    public let firstWindow: Duration
    /// Each of those behind it.
    public let window: Duration

    /// - Precondition: `oldest < newest`; windows are of a second at least.
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

    /// How many windows there are.
    package var windowCount: Int {
        let beyond = newest.seconds - oldest.seconds - firstWindow.components.seconds
        let length = window.components.seconds
        return 1 + Int(max(0, (beyond + length - 1) / length))
    }

    /// The windows from the newest, 0, to the oldest.
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

    /// The newest part that is not covered, within one window; nil when all is.
    package func nextGap(_ coverage: Coverage) -> (window: Int, range: Range<CoveragePosition>)? {
        guard let gap = coverage.gaps(in: range).last else { return nil }
        var (low, high) = (0, windowCount - 1)
        // The window in which the gap ends: the first whose lower edge is below that.
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

    /// How many windows are covered whole.
    package func windowsDone(_ coverage: Coverage) -> Int {
        (0..<windowCount).count { coverage.contains(window($0)) }
    }
}

/// What a source has found, from the upper end of what it was asked for downwards.
public struct BackfillPart<Items: Sendable>: Sendable {
    public let items: Items
    /// Everything from here up is in the part. The lower end of what was asked for when that is
    /// done; lower still when the source knows that nothing is there; never at the upper end, which
    /// would be no progress and counts as a failure.
    public let reached: CoveragePosition
    /// As of when that is true.
    public let asOf: Timestamp
    public let samples: Int
    public let bytes: Int
    /// What the server bills.
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

/// Why a step of a backfill did not succeed.
public enum BackfillFailure: Error, Hashable, Sendable {
    /// May pass: tried again, later each time.
    case transient(String)
    /// Will not: the job ends, others go on.
    case permanent(String)
    /// A source said that all went well and came no further.
    case stalled

    /// The sentence in the language of the app.
    public var message: String { sentence.localized() }

    /// One sentence for a person.
    public var sentence: Sentence {
        switch self {
        case .transient:
            Sentence(
                "backfill.transient",
                "Older entries could not be loaded just now. We'll try again.")
        case .permanent: Sentence("backfill.permanent", "Older entries cannot be loaded.")
        case .stalled:
            Sentence(
                "backfill.stalled",
                "Older entries do not arrive. Please tell the makers of this app.")
        }
    }
}

/// Where history comes from. Asked for one part at a time.
public protocol BackfillSource<Items>: Sendable {
    associatedtype Items: Sendable

    /// The newest part of the range, of bounded size, from its upper end downwards.
    func fetch(
        _ range: Range<CoveragePosition>
    ) async throws(BackfillFailure) -> BackfillPart<Items>
}

/// Where history goes. Each call may be made again with the same items, after a failure or a kill,
/// and must then change nothing.
public protocol BackfillSink<Items>: Sendable {
    associatedtype Items: Sendable

    /// What was covered before, by earlier runs of the app too.
    func coverage() async throws(BackfillFailure) -> Coverage
    /// Keeps the items on this device. Returns when they are durable.
    func store(_ items: Items) async throws(BackfillFailure)
    /// Sends the items. Returns when the server has them.
    /// - Returns: How many writes that were.
    func upload(_ items: Items) async throws(BackfillFailure) -> Int
    /// Makes the coverage durable.
    func cover(_ coverage: Coverage) async throws(BackfillFailure)
}
