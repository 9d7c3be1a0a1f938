public import TidemarkModel

/// The parts of a feed that a device holds completely: disjoint intervals of item time and document
/// path, each with the server's read time as of which it is complete.
///
/// A coverage says nothing about later edits and deletes inside an interval. Every operation costs
/// a pass over the intervals; a feed has only a few.
public struct Coverage: Hashable, Sendable {
    public struct Interval: Hashable, Sendable {
        public let lower: CoveragePosition
        /// The upper bound, which is excluded: positions are between items.
        public let upper: CoveragePosition
        public let asOf: Timestamp
    }

    /// The intervals in ascending order, nonempty and disjoint. Adjacent intervals differ in
    /// ``Interval/asOf``.
    public private(set) var intervals: [Interval]

    public init() { intervals = [] }

    /// Makes a coverage of intervals in any order, which may overlap. Ordered, disjoint intervals,
    /// as in a record, cost one pass: a first read of 100,000 items leaves an interval per page,
    /// and every launch reads them.
    init(_ intervals: [Interval]) {
        self.init()
        let isInOrder =
            intervals.allSatisfy { $0.lower < $0.upper }
            && zip(intervals, intervals.dropFirst()).allSatisfy { $0.upper <= $1.lower }
        if isInOrder {
            self.intervals = Self.joined(intervals)
            return
        }
        for interval in intervals {
            insert(interval.lower..<interval.upper, asOf: interval.asOf)
        }
    }

    public var isEmpty: Bool { intervals.isEmpty }

    /// Adds a range that was read completely. Where a part of the range was held before, the later
    /// time counts.
    public mutating func insert(_ range: Range<CoveragePosition>, asOf: Timestamp) {
        if range.isEmpty { return }
        var result: [Interval] = []
        var reached = range.lowerBound
        func add(_ lower: CoveragePosition, upper: CoveragePosition, asOf: Timestamp) {
            if lower < upper { result.append(Interval(lower: lower, upper: upper, asOf: asOf)) }
        }
        for old in intervals {
            guard old.lower < range.upperBound, range.lowerBound < old.upper else {
                result.append(old)
                continue
            }
            let shared = max(old.lower, range.lowerBound)..<min(old.upper, range.upperBound)
            add(old.lower, upper: shared.lowerBound, asOf: old.asOf)
            add(reached, upper: shared.lowerBound, asOf: asOf)
            add(shared.lowerBound, upper: shared.upperBound, asOf: max(old.asOf, asOf))
            add(shared.upperBound, upper: old.upper, asOf: old.asOf)
            reached = shared.upperBound
        }
        add(reached, upper: range.upperBound, asOf: asOf)
        intervals = Self.joined(result.sorted { $0.lower < $1.lower })
    }

    /// Adds everything that another coverage holds.
    public mutating func formUnion(_ other: Coverage) {
        for interval in other.intervals {
            insert(interval.lower..<interval.upper, asOf: interval.asOf)
        }
    }

    /// Removes everything below a position, as a clear does.
    public mutating func cut(below position: CoveragePosition) {
        remove(.lowest..<max(position, .lowest))
    }

    /// Removes a range, for example of documents that the cache has dropped.
    public mutating func remove(_ range: Range<CoveragePosition>) {
        if range.isEmpty { return }
        intervals = intervals.flatMap { old in
            [
                (old.lower, min(old.upper, range.lowerBound)),
                (max(old.lower, range.upperBound), old.upper),
            ].compactMap { lower, upper in
                lower < upper ? Interval(lower: lower, upper: upper, asOf: old.asOf) : nil
            }
        }
    }

    /// Marks everything as complete as of a later read, as a completed delta proves.
    public mutating func confirm(asOf: Timestamp) {
        intervals = Self.joined(
            intervals.map {
                Interval(lower: $0.lower, upper: $0.upper, asOf: max($0.asOf, asOf))
            })
    }

    /// Joins two adjacent intervals, those with the closest times. The result is complete as of the
    /// earlier time.
    ///
    /// - Returns: True if there were two.
    mutating func joinNearest() -> Bool {
        func distance(_ index: Int) -> Duration {
            let times = [intervals[index].asOf, intervals[index + 1].asOf].sorted()
            return times[1].duration(since: times[0])
        }
        let touching = intervals.indices.dropLast().filter { index in
            intervals[index].upper == intervals[index + 1].lower
        }
        guard let index = touching.min(by: { distance($0) < distance($1) }) else { return false }
        let (lower, upper) = (intervals[index], intervals.remove(at: index + 1))
        intervals[index] = Interval(
            lower: lower.lower, upper: upper.upper, asOf: min(lower.asOf, upper.asOf))
        intervals = Self.joined(intervals)
        return true
    }

    private static func joined(_ intervals: [Interval]) -> [Interval] {
        var result: [Interval] = []
        for next in intervals {
            if let last = result.last, last.upper == next.lower, last.asOf == next.asOf {
                result[result.count - 1] = Interval(
                    lower: last.lower, upper: next.upper, asOf: last.asOf)
            } else {
                result.append(next)
            }
        }
        return result
    }
}

extension Coverage {
    /// Returns the parts of a range that are not held, in ascending order.
    public func gaps(in range: Range<CoveragePosition>) -> [Range<CoveragePosition>] {
        var gaps: [Range<CoveragePosition>] = []
        var reached = range.lowerBound
        for interval in intervals where interval.upper > reached {
            guard interval.lower < range.upperBound else { break }
            if reached < interval.lower { gaps.append(reached..<interval.lower) }
            reached = interval.upper
        }
        if reached < range.upperBound { gaps.append(reached..<range.upperBound) }
        return gaps
    }

    /// Returns the time as of which an item's position is held; nil if it is not held.
    public func asOf(_ time: Timestamp, _ path: DocumentPath) -> Timestamp? {
        let position = CoveragePosition.before(time, path)
        return intervals.first { $0.lower <= position && position < $0.upper }?.asOf
    }

    public func contains(_ range: Range<CoveragePosition>) -> Bool { gaps(in: range).isEmpty }
}
