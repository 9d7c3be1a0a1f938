/// What a backfill has to take into account.
public struct BackfillConditions: Hashable, Sendable {
    public var isOnline = true
    public var isLowPower = false
    /// The network is paid by the amount, or the person asks apps to save data.
    public var isNetworkExpensive = false
    /// How many things a person waits for right now.
    public var peopleWaiting = 0

    public init() {}
}

/// What a backfill may use before it stops and waits for the next background task, or the next day.
/// Looked at before each part, so it may be exceeded by one.
public struct BackfillBudget: Hashable, Sendable {
    public var time: Duration?
    public var bytes: Int?
    /// What the server bills.
    public var reads: Int?
    public var writes: Int?

    /// No limits but those given.
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

/// How far a backfill is.
public struct BackfillProgress: Hashable, Sendable {
    public enum Limit: Hashable, Sendable { case time, bytes, reads, writes }

    /// Why it does not go on.
    public enum Hold: Hashable, Sendable {
        /// A person waits for something else.
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
        /// Something failed, and time is given to it.
        case tryingAgain
        case complete
        /// Of some jobs the rest cannot be had; the others are complete.
        case failed
    }

    public var phase = Phase.running
    public var windows = 0
    public var windowsDone = 0
    /// Whether what a person looks at first is there, of every job.
    public var hasFirstWindows = false
    public var samples = 0
    public var bytes = 0
    public var reads = 0
    public var writes = 0
    /// By what the history that is done has taken, pauses included; nil until some is.
    public var timeLeft: Duration?
    /// By the job's name.
    public var failures: [String: BackfillFailure] = [:]

    public init() {}

    /// From 0 to 1.
    public var fraction: Double { windows == 0 ? 1 : Double(windowsDone) / Double(windows) }
}
