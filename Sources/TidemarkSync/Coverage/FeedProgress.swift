package import TidemarkModel

/// A feed's knowledge of the documents on its device. Stored in the transaction that stores the
/// documents.
package struct FeedProgress: Hashable, Sendable {
    package private(set) var cursor: ChangeCursor
    package private(set) var coverage: Coverage
    /// The time as of which nothing newer is missing; nil before the newest items were first
    /// requested. A feed of changes knows it from its cursor.
    package private(set) var headTime: Timestamp?
    /// The number of items with the time of the newest one, as far as pages have contained them.
    /// The next request for newer items will return them again.
    package private(set) var headCount = 0
    /// True if all changes of an overlap have been read once, so the cursor has seen them,
    /// including those below the clear mark, which no page of items contains.
    private var hasDelta = false

    /// The listener that was open last.
    package private(set) var live: Live?
    /// The time on the device's clock when everything was last known; nil if it was not noted. It
    /// is compared with the same clock later, so the clock's error does not matter.
    package private(set) var notedAt: Timestamp?

    package struct Live: Hashable, Sendable {
        /// The change time from which the listener reports changes.
        package var since: Timestamp
        /// The maximum number of rows. It must stay the same, because another limit is another
        /// listener, to which the server sends everything.
        package var limit: Int
        /// The time of the last report; nil before the first.
        package var heardAt: Timestamp?
    }

    package init(overlap: Duration) {
        cursor = ChangeCursor(overlap: overlap)
        coverage = Coverage()
    }

    /// Removes everything that a clear has hidden, because nothing below the mark must be held.
    package mutating func cut(action: Timestamp) { coverage.cut(below: .end(of: action)) }

    /// Records the time on the device's clock at which everything is known.
    package mutating func note(now: Timestamp) { notedAt = now }

    /// Receives a page that a plan requested.
    ///
    /// - Parameter rows: The rows in the plan's order. Fewer than a page means that there are no
    ///   more.
    /// - Returns: The rows not known in this version.
    package mutating func receive(
        _ rows: [FeedBookRow], of plan: ReadPlan, readTime: Timestamp, rules: FeedRules
    ) -> [FeedBookRow] {
        var isLast = rows.count < plan.pageSize
        #if TIDEMARK_DEFECTS
            if rules.defects.contains(.drainCutShort) { isLast = true }
        #endif
        switch plan.question {
        case .changes:
            let changes = rows.compactMap(\.change)
            cursor.forgetGone(from: changes, isLast: isLast)
            let fresh = cursor.receive(changes, readTime: readTime, isLast: isLast)
            if isLast { hasDelta = true }
            // If the feed has audits, only they prove that held items still exist.
            if isLast, !rules.way.audits, let asOf = cursor.readTime {
                coverage.confirm(asOf: asOf)
            }
            let paths = Set(fresh.map(\.path))
            return rows.filter { paths.contains($0.path) }
        case .items(let range):
            if plan.beginsAnew { beginAnew() }
            return receive(rows, in: range, readTime: readTime, isLast: isLast, rules)
        case .figures, .changeCount, .marks: preconditionFailure("these have no rows")
        }
    }

    private mutating func beginAnew() {
        cursor = ChangeCursor(overlap: cursor.overlap)
        coverage = Coverage()
        hasDelta = false
        live = nil
    }

    private mutating func receive(
        _ rows: [FeedBookRow], in range: Range<CoveragePosition>, readTime: Timestamp,
        isLast: Bool, _ rules: FeedRules
    ) -> [FeedBookRow] {
        let fresh = rows.filter { row in
            if let seen = cursor.seen[row.path] { return seen.updateTime != row.updateTime }
            guard let time = row.itemTime else { return true }
            return coverage.asOf(time, row.path) == nil
        }
        var upper = range.upperBound
        if case .changeTime = rules.way {
            cursor.begin(at: readTime)
            cursor.note(rows.compactMap(\.change))
        } else if upper == .highest {
            // Later items will be above the newest item of now.
            headTime = readTime
            headCount = Self.count(ofNewest: rows)
            upper =
                rows.first.flatMap { row in row.itemTime.map { .after($0, row.path) } }
                ?? emptyHead(range.lowerBound)
        } else {
            headCount += countInHead(rows)
        }
        let lower = Self.covered(by: rows, of: range, isLast: isLast).lowerBound
        // Items with equal times at the lower end may have been held; they are no longer held until
        // they are read.
        coverage.remove(range)
        if lower < upper { coverage.insert(lower..<upper, asOf: readTime) }
        return fresh
    }

    /// Returns the position up to which nothing exists, if a request for items newer than the one
    /// at `lower` returned none, not even that item: it was deleted or moved down. The position is
    /// kept, because items below it that were never read are a gap and not the end of the feed.
    private func emptyHead(_ lower: CoveragePosition) -> CoveragePosition {
        if case .start = lower.side, lower != .lowest { .end(of: lower.time) } else { lower }
    }

    /// Counts the items of a page below the newest items that have the newest time and were not
    /// held, because a page may end between items of the same time.
    private func countInHead(_ rows: [FeedBookRow]) -> Int {
        guard let top = coverage.intervals.last?.upper.time else { return 0 }
        return rows.count { $0.itemTime == top && coverage.asOf(top, $0.path) == nil }
    }

    private static func count(ofNewest rows: [FeedBookRow]) -> Int {
        guard let newest = rows.first?.itemTime else { return 0 }
        return rows.prefix { $0.itemTime == newest }.count
    }

    /// Returns the part of a range of which a page contains all items.
    package static func covered(
        by rows: [FeedBookRow], of range: Range<CoveragePosition>, isLast: Bool
    ) -> Range<CoveragePosition> {
        guard !isLast, let last = rows.last, let time = last.itemTime else { return range }
        return max(range.lowerBound, .before(time, last.path))..<range.upperBound
    }

    /// Records the ranges that an audit has confirmed.
    package mutating func confirm(_ ranges: [Range<CoveragePosition>], asOf: Timestamp) {
        for range in ranges where coverage.contains(range) { coverage.insert(range, asOf: asOf) }
    }
}

// MARK: - Listening

extension FeedProgress {
    package mutating func beginLive(since: Timestamp, limit: Int) {
        if live?.since != since || live?.limit != limit { live = Live(since: since, limit: limit) }
    }

    package mutating func endLive() { live = nil }

    /// Takes the state of the listener from another progress of the same feed.
    package mutating func keepListener(of other: FeedProgress) { live = other.live }

    /// Receives confirmed and complete rows of a listener.
    ///
    /// - Parameter range: The range of the reported items; nil if the listener reports changes.
    package mutating func heard(
        _ rows: [FeedBookRow], in range: Range<CoveragePosition>?, readTime: Timestamp,
        _ rules: FeedRules
    ) {
        guard let range else {
            live?.heardAt = readTime
            hasDelta = true
            cursor.hear(rows.compactMap(\.change), readTime: readTime)
            if !rules.way.audits { coverage.confirm(asOf: readTime) }
            return
        }
        headTime = max(readTime, headTime ?? readTime)
        headCount = Self.count(ofNewest: rows)
        let times = rows.compactMap { row in row.itemTime.map { ($0, row.path) } }
        guard let first = times.first, let last = times.last else { return }
        // The head listener shows only the newest items and says nothing about items below its last
        // one.
        let isAll = rules.way == .itemTime
        let lower = isAll ? range.lowerBound : CoveragePosition.before(last.0, last.1)
        let upper = CoveragePosition.after(first.0, first.1)
        if lower < upper { coverage.insert(lower..<upper, asOf: readTime) }
    }

    /// Receives the rows of a listener to changes if there are more changes than it shows. The rows
    /// count as the first page of a delta, and further pages follow.
    ///
    /// - Parameter rows: The rows in the order of the changes: all that the server had at
    ///   `readTime`, up to the last row.
    /// - Returns: The number of rows not known in this version; nil if the rows are not newer than
    ///   known changes, or if pages of another read are missing.
    package mutating func heardPage(_ rows: [FeedBookRow], readTime: Timestamp) -> Int? {
        guard let since = cursor.since, let known = cursor.readTime, known < readTime,
            cursor.drain == nil
        else { return nil }
        // The listener may be old, so earlier changes are known.
        let page = rows.compactMap(\.change).filter { $0.changeTime >= since }
        if page.isEmpty { return nil }
        cursor.forgetGone(from: page, isLast: false)
        return cursor.receive(page, readTime: readTime, isLast: false).count
    }

    /// Returns the range from the newest held item, whose time other items may share, to the top.
    package func newestRange(above action: Timestamp?) -> Range<CoveragePosition> {
        let floor = Self.floor(action)
        let top = held(above: action).last?.upperBound
        return max(floor, top.map { .start(of: $0.time) } ?? floor)..<CoveragePosition.highest
    }
}

// MARK: - What is missing

extension FeedProgress {
    /// Returns the position below which nothing must be held.
    package static func floor(_ action: Timestamp?) -> CoveragePosition {
        action.map { .end(of: $0) } ?? .lowest
    }

    /// Returns the position up to which items may be held. Without a change time, new items are
    /// above the newest held item.
    private func ceiling(_ rules: FeedRules) -> CoveragePosition {
        if case .changeTime = rules.way { return .highest }
        return coverage.intervals.last?.upper ?? .lowest
    }

    /// Returns the missing ranges in ascending order: between the clear mark and the newest item,
    /// or, in a bounded feed, above the newest held part.
    package func gaps(above action: Timestamp?, _ rules: FeedRules) -> [Range<CoveragePosition>] {
        let (base, ceiling) = (base(above: action, rules), ceiling(rules))
        return base < ceiling ? coverage.gaps(in: base..<ceiling) : []
    }

    /// Returns the position from which everything is held once no gap is left: the clear mark, or,
    /// in a bounded feed, the lower end of the newest held part.
    package func base(above action: Timestamp?, _ rules: FeedRules) -> CoveragePosition {
        let newest = rules.limit == nil ? nil : held(above: action).last
        return newest?.lowerBound ?? Self.floor(action)
    }

    /// Returns the range directly below a bounded feed's base that was never read; nil if
    /// everything or nothing is held.
    package func tail(above action: Timestamp?, _ rules: FeedRules) -> Range<CoveragePosition>? {
        let (floor, base) = (Self.floor(action), base(above: action, rules))
        return floor < base ? coverage.gaps(in: floor..<base).last : nil
    }

    /// Returns the held ranges above the clear mark, in ascending order and joined, whatever their
    /// read times.
    package func held(above action: Timestamp?) -> [Range<CoveragePosition>] {
        var result: [Range<CoveragePosition>] = []
        let floor = Self.floor(action)
        for interval in coverage.intervals where floor < interval.upper {
            let lower = max(floor, interval.lower)
            if let last = result.last, last.upperBound == lower {
                result[result.count - 1] = last.lowerBound..<interval.upper
            } else {
                result.append(lower..<interval.upper)
            }
        }
        return result
    }

    /// The number of rows of the overlap that the next delta will return again; nil if unknown.
    package var repeatedChanges: Int? {
        let isWhole =
            hasDelta || coverage.contains(CoveragePosition.lowest..<CoveragePosition.highest)
        return isWhole ? cursor.seen.count : nil
    }

    /// The last time for which the server has confirmed the held items.
    package var lastReadTime: Timestamp? { cursor.readTime ?? headTime }

    /// Returns the time as of which everything above the clear mark is held; nil if something is
    /// missing.
    package func readTime(above action: Timestamp?, _ rules: FeedRules) -> Timestamp? {
        guard gaps(above: action, rules).isEmpty else { return nil }
        switch rules.way {
        case .changeTime: return cursor.drain == nil ? cursor.readTime : nil
        case .itemTime: return headTime
        case .audit:
            let base = base(above: action, rules)
            let audited = coverage.intervals.filter { base < $0.upper }.map(\.asOf).min()
            return [headTime, audited].compactMap(\.self).min()
        }
    }
}

extension FeedProgress {
    private static let format: UInt8 = 6
    /// Without the device's clock.
    private static let formatWithoutClock: UInt8 = 5
    /// Also without what tells how many come again.
    private static let formatWithoutCounts: UInt8 = 4

    package var encoded: [UInt8] {
        var writer = RecordWriter(format: Self.format)
        cursor.write(to: &writer)
        coverage.write(to: &writer)
        writer.optional(headTime) { $0.time($1) }
        writer.unsigned(UInt64(headCount))
        writer.unsigned(hasDelta ? 1 : 0)
        writer.optional(live) { writer, live in
            writer.time(live.since)
            writer.unsigned(UInt64(live.limit))
            writer.optional(live.heardAt) { $0.time($1) }
        }
        writer.optional(notedAt) { $0.time($1) }
        return writer.bytes
    }

    /// Returns nil if ``encoded`` did not make the bytes.
    package init?(encoded bytes: [UInt8], overlap: Duration) {
        let formats = [Self.format, Self.formatWithoutClock, Self.formatWithoutCounts]
        guard let format = formats.first(where: { $0 == bytes.first }),
            var reader = RecordReader(bytes, format: format),
            let cursor = ChangeCursor(from: &reader, overlap: overlap),
            let coverage = Coverage(from: &reader), let headTime = reader.optional({ $0.time() }),
            let headCount = format == Self.formatWithoutCounts
                ? 0 : reader.unsigned().flatMap(Int.init(exactly:)),
            let hasDelta = format == Self.formatWithoutCounts ? 0 : reader.unsigned(),
            let live = reader.optional({ Live(from: &$0) }),
            let notedAt = format == Self.format ? reader.optional({ $0.time() }) : .some(nil),
            reader.isAtEnd
        else { return nil }
        self.cursor = cursor
        self.coverage = coverage
        self.headTime = headTime
        self.headCount = headCount
        self.hasDelta = hasDelta == 1
        self.live = live
        self.notedAt = notedAt
    }
}

extension FeedProgress.Live {
    fileprivate init?(from reader: inout RecordReader) {
        guard let since = reader.time(), let limit = reader.unsigned().flatMap(Int.init(exactly:)),
            limit > 0, let heardAt = reader.optional({ $0.time() })
        else { return nil }
        self.init(since: since, limit: limit, heardAt: heardAt)
    }
}
