/// Stops one target from costing without an end: a result that is asked for again and again, or
/// thousands of documents that are asked for one by one. Pure; it is told the time.
///
/// Closed, it counts what was asked for in the last minute. At the bound it opens: the target is shown
/// from the cache, with the reason. After a pause it lets as much through again (half open); a storm
/// that goes on opens it for twice as long. A minute without a storm closes it. What was held back
/// meanwhile is asked for then: nothing is left out for good.
public struct StormBreaker: Hashable, Sendable {
    public struct Bounds: Hashable, Sendable {
        /// Of one target's whole result, in a minute. Every one costs the whole result.
        public var requeries: Int
        /// Of one target's documents in limbo, in a minute. Every one costs a read.
        public var limboDocuments: Int
        /// How long it is open the first time.
        public var firstPause: Duration
        /// And at the most.
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
    /// When each of the last ones was asked for, oldest first.
    private var times: [Duration] = []
    private var pause: Duration

    init(limit: Int, _ bounds: Bounds) {
        self.limit = limit
        firstPause = bounds.firstPause
        longestPause = bounds.longestPause
        pause = bounds.firstPause
    }

    /// Until when nothing may be asked for; nil when something may.
    var openUntil: Duration? { if case .open(let until) = state { until } else { nil } }

    /// A pause that is over is one no more.
    mutating func wake(at now: Duration) {
        if let openUntil, openUntil <= now { state = .halfOpen }
    }

    /// - Returns: Whether one more may be asked for now; then it is counted.
    mutating func admit(at now: Duration) -> Bool {
        wake(at: now)
        if openUntil != nil { return false }
        forget(before: now - Self.window)
        if times.count < limit {
            times.append(now)
            return true
        }
        // What comes after the pause is counted from nothing.
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
