/// The conditions that a backfill obeys.
public struct BackfillConditions: Hashable, Sendable {
    public var isOnline = true
    public var isLowPower = false
    /// True if the network is paid by the amount, or the user asks apps to save data.
    public var isNetworkExpensive = false
    /// The number of operations that a user waits for now.
    public var peopleWaiting = 0

    public init() {}
}

/// The amounts that a backfill may use before it stops and waits for the next background task, or
/// the next day. The check is before each part, so a part can exceed the budget.
public struct BackfillBudget: Hashable, Sendable {
    public var time: Duration?
    public var bytes: Int?
    /// The number of billed reads.
    public var reads: Int?
    public var writes: Int?

    /// Creates a budget with only the given limits.
    public init(
        time: Duration? = nil, bytes: Int? = nil, reads: Int? = nil, writes: Int? = nil
    ) {
        self.time = time
        self.bytes = bytes
        self.reads = reads
        self.writes = writes
    }

    func exceeded(by spent: BackfillSpending, after time: Duration) -> BackfillProgress.Hold? {
        if let limit = self.time, time >= limit { return .budget(.time) }
        if let bytes, spent.bytes >= bytes { return .budget(.bytes) }
        if let reads, spent.reads >= reads { return .budget(.reads) }
        if let writes, spent.writes >= writes { return .budget(.writes) }
        return nil
    }
}

struct BackfillSpending: Hashable, Sendable {
    var samples = 0
    var bytes = 0
    var reads = 0
    var writes = 0

    mutating func add(_ part: BackfillMachine.Part) {
        samples += part.samples
        bytes += part.bytes
        reads += part.reads
    }
}

/// The progress of a backfill.
public struct BackfillProgress: Hashable, Sendable {
    public enum Limit: Hashable, Sendable { case time, bytes, reads, writes }

    /// The reason why the backfill waits.
    public enum Hold: Hashable, Sendable {
        /// A user waits for something else.
        case yielding
        case offline
        case lowPower
        case expensiveNetwork
        case budget(Limit)
        case stopped
    }

    public enum Phase: Hashable, Sendable {
        case running
        case held(Hold)
        /// A step failed, and the backfill waits before it retries.
        case tryingAgain
        case complete
        /// Some jobs have failed permanently; the others are complete.
        case failed
    }

    public var phase = Phase.running
    public var windows = 0
    public var windowsDone = 0
    /// True if the first window of every job is complete.
    public var hasFirstWindows = false
    public var samples = 0
    public var bytes = 0
    public var reads = 0
    public var writes = 0
    /// The estimate from the time that the finished history has taken, with pauses; nil until some
    /// history is finished.
    public var timeLeft: Duration?
    /// The permanent failures, by the job's name.
    public var failures: [String: BackfillFailure] = [:]

    public init() {}

    /// The finished share, from 0 to 1.
    public var fraction: Double { windows == 0 ? 1 : Double(windowsDone) / Double(windows) }
}
