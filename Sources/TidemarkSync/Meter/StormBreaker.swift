/// Stops the endless cost of one target: a result that is requested over and over, or thousands of
/// documents that are requested one by one. It has no clock; its caller provides the time.
///
/// While closed, the breaker counts the requests of the last minute. At the limit it opens: the
/// target shows the cache, with the reason. After a pause the breaker is half open and allows the
/// same number of requests. If the storm continues, the breaker opens for twice the time. A minute
/// without a storm closes the breaker. The stopped requests are sent after the pause, so no data is
/// missing in the end.
public struct StormBreaker: Hashable, Sendable {
    public struct Bounds: Hashable, Sendable {
        /// The maximum number of requests for one target's whole result in a minute. Each costs the
        /// whole result.
        public var requeries: Int
        /// The maximum number of one target's documents in limbo in a minute. Each costs a read.
        public var limboDocuments: Int
        /// The length of the first pause.
        public var firstPause: Duration
        /// The maximum length of a pause.
        public var longestPause: Duration

        /// - Precondition: All are positive, and `firstPause` is not longer than `longestPause`.
        public init(
            requeries: Int = 5, limboDocuments: Int = 500, firstPause: Duration = .seconds(60),
            longestPause: Duration = .seconds(600)
        ) {
            precondition(requeries > 0 && limboDocuments > 0)
            precondition(firstPause > .zero && firstPause <= longestPause)
            self.requeries = requeries
            self.limboDocuments = limboDocuments
            self.firstPause = firstPause
            self.longestPause = longestPause
        }
    }

    enum State: Hashable, Sendable {
        case closed
        case open(until: Duration)
        case halfOpen
    }

    static let window = Duration.seconds(60)

    let limit: Int
    let firstPause: Duration
    let longestPause: Duration
    private(set) var state = State.closed
    /// The times of the last requests, oldest first.
    private var times: [Duration] = []
    private var pause: Duration

    init(limit: Int, _ bounds: Bounds) {
        self.limit = limit
        firstPause = bounds.firstPause
        longestPause = bounds.longestPause
        pause = bounds.firstPause
    }

    /// The time until which requests are stopped; nil if they are allowed.
    var openUntil: Duration? { if case .open(let until) = state { until } else { nil } }

    /// Ends a pause whose time has passed.
    mutating func wake(at now: Duration) {
        if let openUntil, openUntil <= now { state = .halfOpen }
    }

    /// - Returns: True if one more request is allowed now; the request is then counted.
    mutating func admit(at now: Duration) -> Bool {
        wake(at: now)
        if openUntil != nil { return false }
        forget(before: now - Self.window)
        if times.count < limit {
            times.append(now)
            return true
        }
        // The count restarts from zero after the pause.
        times = []
        state = .open(until: now + pause)
        pause = min(pause * 2, longestPause)
        return false
    }

    private mutating func forget(before start: Duration) {
        if let last = times.last, last < start, state == .halfOpen {
            state = .closed
            pause = firstPause
        }
        if let kept = times.firstIndex(where: { $0 > start }) {
            times.removeFirst(kept)
        } else if !times.isEmpty {
            times = []
        }
    }
}
