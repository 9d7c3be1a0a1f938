package import TidemarkModel

/// What a feed knows of the documents on its device; stored in the transaction that stores them.
package struct FeedProgress: Hashable, Sendable {
    package private(set) var cursor: ChangeCursor
    package private(set) var coverage: Coverage
    /// As of when nothing newer is missing; nil before the newest items were first asked for. A feed
    /// of changes knows it from its cursor.
    package private(set) var headTime: Timestamp?
    /// Items that have the time of the newest one, as far as pages have brought them: the next look for
    /// newer ones brings them again.
    package private(set) var headCount = 0
    /// Whether all changes of an overlap have been read once, so that the cursor has seen them: also
    /// those below the clear mark, which no page of items brings.
    private var hasDelta = false

    /// The listener that was open last.
    package private(set) var live: Live?

    package struct Live: Hashable, Sendable {
        /// From when on it told the changes.
        package var since: Timestamp
        /// Rows at the most. The same again, or it would be another listener, which the server
        /// tells everything.
        package var limit: Int
        /// As of when it last told them; nil before it has.
        package var heardAt: Timestamp?
    }

    package init(overlap: Duration) {
        cursor = ChangeCursor(overlap: overlap)
        coverage = Coverage()
    }

    /// Forgets what a clear has hidden: nothing below the mark need be held.
    package mutating func cut(action: Timestamp) { coverage.cut(below: .end(of: action)) }

    /// Takes a page that a plan asked for.
    ///
    /// - Parameter rows: In the plan's order, all that there are if fewer than a page.
    /// - Returns: The rows that were not known in this version.
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
            // With audits, only they tell that what is held is still there.
            if isLast, !rules.way.audits, let asOf = cursor.readTime {
                coverage.confirm(asOf: asOf)
            }
            let paths = Set(fresh.map(\.path))
            return rows.filter { paths.contains($0.path) }
        case .items(let range):
            if plan.beginsAnew { beginAnew() }
            return receive(rows, in: range, readTime: readTime, isLast: isLast, rules)
        case .figures, .marks: preconditionFailure("these have no rows")
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
            // What comes later will be above the newest of now.
            headTime = readTime
            headCount = Self.count(ofNewest: rows)
            upper =
                rows.first.flatMap { row in row.itemTime.map { .after($0, row.path) } }
                ?? emptyHead(range.lowerBound)
        } else {
            headCount += countInHead(rows)
        }
        let lower = Self.covered(by: rows, of: range, isLast: isLast).lowerBound
        // Equal times at its lower end may have been held: until they are read they are not.
        coverage.remove(range)
        if lower < upper { coverage.insert(lower..<upper, asOf: readTime) }
        return fresh
    }

    /// Up to where it is known that there is nothing, where a look for newer items than one at `lower`
    /// brought none, not even that one: it has gone, or moved down. That keeps the place: what lies below
    /// it and was never read is a gap, and not the end of the feed.
    private func emptyHead(_ lower: CoveragePosition) -> CoveragePosition {
        if case .start = lower.side, lower != .lowest { .end(of: lower.time) } else { lower }
    }

    /// Of a page below the newest items, those that have their time and were not held: a page may end
    /// between items of one time.
    private func countInHead(_ rows: [FeedBookRow]) -> Int {
        guard let top = coverage.intervals.last?.upper.time else { return 0 }
        return rows.count { $0.itemTime == top && coverage.asOf(top, $0.path) == nil }
    }

    private static func count(ofNewest rows: [FeedBookRow]) -> Int {
        guard let newest = rows.first?.itemTime else { return 0 }
        return rows.prefix { $0.itemTime == newest }.count
    }

    /// The part of a range of which a page has all items.
    package static func covered(
        by rows: [FeedBookRow], of range: Range<CoveragePosition>, isLast: Bool
    ) -> Range<CoveragePosition> {
        guard !isLast, let last = rows.last, let time = last.itemTime else { return range }
        return max(range.lowerBound, .before(time, last.path))..<range.upperBound
    }

    /// Takes over what an audit found to be right.
    package mutating func confirm(_ ranges: [Range<CoveragePosition>], asOf: Timestamp) {
        for range in ranges where coverage.contains(range) { coverage.insert(range, asOf: asOf) }
    }
}

// MARK: - Listening

extension FeedProgress {
    package mutating func beginLive(since: Timestamp, limit: Int) {
        if live?.since != since { live = Live(since: since, limit: limit) }
    }

    package mutating func endLive() { live = nil }

    /// Takes what a listener shows that the server has confirmed, and that shows all there is.
    ///
    /// - Parameter range: Of the items it tells of; nil where it tells changes.
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
        // The head shows the newest only; what lies below its last one it does not tell.
        let isAll = rules.way == .itemTime
        let lower = isAll ? range.lowerBound : CoveragePosition.before(last.0, last.1)
        let upper = CoveragePosition.after(first.0, first.1)
        if lower < upper { coverage.insert(lower..<upper, asOf: readTime) }
    }

    /// Takes what a listener to changes shows where there are more than it shows: the first page of what
    /// changed since the last read, behind which pages go on.
    ///
    /// - Parameter rows: In the order of the changes: all that the server had of them at `readTime`, up to
    ///   the last.
    /// - Returns: How many were not known in this version; nil where they tell nothing later than what is
    ///   known, or pages of another read are still to come.
    package mutating func heardPage(_ rows: [FeedBookRow], readTime: Timestamp) -> Int? {
        guard let since = cursor.since, let known = cursor.readTime, known < readTime,
            cursor.drain == nil
        else { return nil }
        // It may have listened for long: what changed before is known.
        let page = rows.compactMap(\.change).filter { $0.changeTime >= since }
        if page.isEmpty { return nil }
        cursor.forgetGone(from: page, isLast: false)
        return cursor.receive(page, readTime: readTime, isLast: false).count
    }

    /// From the newest item that is held on, whose time others may have too.
    package func newestRange(above action: Timestamp?) -> Range<CoveragePosition> {
        let floor = Self.floor(action)
        let top = held(above: action).last?.upperBound
        return max(floor, top.map { .start(of: $0.time) } ?? floor)..<CoveragePosition.highest
    }
}

// MARK: - What is missing

extension FeedProgress {
    /// Below which nothing need be held.
    package static func floor(_ action: Timestamp?) -> CoveragePosition {
        action.map { .end(of: $0) } ?? .lowest
    }

    /// Up to where something may be held: without changes that are followed, new items are above the
    /// newest that is.
    private func ceiling(_ rules: FeedRules) -> CoveragePosition {
        if case .changeTime = rules.way { return .highest }
        return coverage.intervals.last?.upper ?? .lowest
    }

    /// What is not held and should be, ascending: between the clear mark and the newest item, or, in a
    /// bounded feed, above the newest part that is held.
    package func gaps(above action: Timestamp?, _ rules: FeedRules) -> [Range<CoveragePosition>] {
        let (base, ceiling) = (base(above: action, rules), ceiling(rules))
        return base < ceiling ? coverage.gaps(in: base..<ceiling) : []
    }

    /// From where on everything is held, once no gap is left: the clear mark, or, in a bounded feed, the
    /// lower end of the newest part that is held.
    package func base(above action: Timestamp?, _ rules: FeedRules) -> CoveragePosition {
        let newest = rules.limit == nil ? nil : held(above: action).last
        return newest?.lowerBound ?? Self.floor(action)
    }

    /// In a bounded feed what was never read just below its base; nil where everything is held, or
    /// nothing is.
    package func tail(above action: Timestamp?, _ rules: FeedRules) -> Range<CoveragePosition>? {
        let (floor, base) = (Self.floor(action), base(above: action, rules))
        return floor < base ? coverage.gaps(in: floor..<base).last : nil
    }

    /// What is held above the clear mark, whenever it was read, ascending and joined.
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

    /// Rows of the overlap that the next delta brings again; nil where they are not known.
    var repeatedChanges: Int? {
        let isWhole =
            hasDelta || coverage.contains(CoveragePosition.lowest..<CoveragePosition.highest)
        return isWhole ? cursor.seen.count : nil
    }

    /// The last time that the server told of itself with what is held.
    package var lastReadTime: Timestamp? { cursor.readTime ?? headTime }

    /// As of when everything above the clear mark is held; nil when something is missing.
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
    private static let format: UInt8 = 5
    /// Without what tells how many come again.
    private static let oldFormat: UInt8 = 4

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
        return writer.bytes
    }

    /// Nil when the bytes are none that ``encoded`` made.
    package init?(encoded bytes: [UInt8], overlap: Duration) {
        let isOld = bytes.first == Self.oldFormat
        guard
            var reader = RecordReader(bytes, format: isOld ? Self.oldFormat : Self.format),
            let cursor = ChangeCursor(from: &reader, overlap: overlap),
            let coverage = Coverage(from: &reader), let headTime = reader.optional({ $0.time() }),
            let headCount = isOld ? 0 : reader.unsigned().flatMap(Int.init(exactly:)),
            let hasDelta = isOld ? 0 : reader.unsigned(),
            let live = reader.optional({ Live(from: &$0) }), reader.isAtEnd
        else { return nil }
        self.cursor = cursor
        self.coverage = coverage
        self.headTime = headTime
        self.headCount = headCount
        self.hasDelta = hasDelta == 1
        self.live = live
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
