package import TidemarkModel

/// The progress of one sync.
package struct SyncReach: Hashable, Sendable {
    /// The server's time of the first page. The sync is complete when everything is known as of
    /// this time.
    package var startedAt: Timestamp?
    /// True if the newest items were requested.
    package var hasHead = false
    package var hasAudit = false
    /// The number of changed rows that were new on this device.
    package var news = 0
    /// True if a bounded feed was away for so long that it counts the changes before it reads.
    package var countsChanges = false
    /// The number of changes since the last read, if they were counted: at most the number of
    /// wanted items.
    package var counted: Int?
    /// In a bounded feed, the number of items held from its base up, if the disk has reported it.
    package var held: Int?
    /// In a bounded feed, the minimum number of items wanted, for example because a user scrolled
    /// to them. The limit applies if it is larger.
    package var wanted = 0

    package init() {}

    /// Starts a sync for older items only, as of the last read. Nothing newer is requested.
    package init(olderOf progress: FeedProgress) {
        startedAt = progress.lastReadTime
        hasHead = true
    }

    /// Records a received page.
    package mutating func take(_ plan: ReadPlan?, news: Int) {
        held = nil
        switch plan?.question {
        case .changes?: self.news += news
        case .items(let range)? where range.upperBound != .highest:
            // The page may have joined parts that were held for a long time.
            hasAudit = false
            return
        case .items?, .figures?, .changeCount?, .marks?, nil: break
        }
        if plan?.beginsAnew == true { self.news = 0 }
        hasHead = true
    }

    /// Records changes that arrived without a plan.
    package mutating func takeChanges(news: Int) {
        self.news += news
        hasHead = true
    }

    /// Returns the number of items to hold; nil for all.
    func target(_ rules: FeedRules) -> Int? { rules.limit.map { max($0, wanted) } }

    /// Returns the size of a page, which need not exceed the target.
    func pageSize(_ rules: FeedRules) -> Int { min(rules.pageSize, target(rules) ?? .max) }
}

/// Chooses the cheapest complete read. A pure function from stored state to a plan.
///
/// A sync asks for plans until there is none: first new items, then parts that were never read,
/// newest first, and then an audit of the held items.
package enum ReadPlanner {
    /// - Parameter action: The clear mark.
    /// - Returns: The next plan; nil if everything above the clear mark is held as of this sync.
    package static func next(
        _ progress: FeedProgress, reach: SyncReach, action: Timestamp?, rules: FeedRules
    ) -> ReadPlan? {
        switch rules.way {
        case .changeTime:
            if let first = afterLongAbsence(progress, reach: reach, action: action, rules: rules) {
                return first
            }
            if let delta = delta(progress, reach: reach, action: action, rules: rules) {
                return delta
            }
        case .itemTime, .audit:
            if !reach.hasHead { return head(progress, reach: reach, action: action, rules: rules) }
        }
        if let gap = progress.gaps(above: action, rules).last {
            return page(gap, of: progress, reach: reach, action: action, rules: rules)
        }
        if rules.way.audits, !reach.hasAudit,
            let audit = audit(progress, reach: reach, action: action, rules: rules)
        {
            return audit
        }
        return older(progress, reach: reach, action: action, rules: rules)
    }

    /// Returns a plan for a page below the base of a bounded feed that holds too few items.
    private static func older(
        _ progress: FeedProgress, reach: SyncReach, action: Timestamp?, rules: FeedRules
    ) -> ReadPlan? {
        guard let target = reach.target(rules), let held = reach.held, held < target,
            let tail = progress.tail(above: action, rules)
        else { return nil }
        let size = min(rules.pageSize, target - held)
        return ReadPlan(
            kind: .page, question: .items(tail), pageSize: size,
            prediction: ReadPlan.Prediction(atLeast: 1, atMost: size),
            reason: "\(held) of \(target) items are stored, so older items are read.")
    }

    /// Returns a plan that replaces a bounded feed's items with the newest, if more items have
    /// changed during an absence than the feed holds. A drain within the overlap is completed,
    /// because its changes would be returned again soon.
    private static func anew(
        _ reach: SyncReach, cursor: ChangeCursor, action: Timestamp?, rules: FeedRules
    ) -> ReadPlan? {
        guard let target = reach.target(rules), reach.news >= target, let drain = cursor.drain,
            drain.readTime.duration(since: drain.since) > cursor.overlap * 2
        else { return nil }
        return newest(reach, target: target, action: action, rules: rules)
    }

    /// Returns a plan that replaces a bounded feed's items with the newest.
    private static func newest(
        _ reach: SyncReach, target: Int, action: Timestamp?, rules: FeedRules
    ) -> ReadPlan {
        let size = reach.pageSize(rules)
        var plan = ReadPlan(
            kind: .full, question: .items(FeedProgress.floor(action)..<CoveragePosition.highest),
            pageSize: size, prediction: ReadPlan.Prediction(atLeast: 1, atMost: size),
            reason: "More than the \(target) newest items have changed, so these are read again.")
        plan.beginsAnew = true
        return plan
    }

    /// Returns the first plan of a bounded feed after a long absence: a count of the changes, and,
    /// if there are as many as wanted items, the newest items. Returns nil if the changes are read.
    package static func afterLongAbsence(
        _ progress: FeedProgress, reach: SyncReach, action: Timestamp?, rules: FeedRules
    ) -> ReadPlan? {
        guard reach.countsChanges, !reach.hasHead, progress.cursor.drain == nil,
            let since = sinceOfDelta(progress.cursor, rules), let target = reach.target(rules),
            target < .max
        else { return nil }
        guard let counted = reach.counted else {
            return ReadPlan(
                kind: .count, question: .changeCount(since: since, upTo: target), pageSize: 1,
                prediction: ReadPlan.Prediction(
                    atLeast: 1, atMost: 1 + target / 1_000, ifUnchanged: 1),
                reason: "After a long absence the changes are counted, because the \(target) "
                    + "newest items may cost less.")
        }
        return counted >= target ? newest(reach, target: target, action: action, rules: rules) : nil
    }

    private static func delta(
        _ progress: FeedProgress, reach: SyncReach, action: Timestamp?, rules: FeedRules
    ) -> ReadPlan? {
        let cursor = progress.cursor
        // The maximum is the number of held items plus the number of repeated rows.
        let most = (reach.target(rules) ?? .max).addingReportingOverflow(cursor.seen.count)
        let size = most.overflow ? rules.pageSize : min(rules.pageSize, most.partialValue)
        let bounds = ReadPlan.Prediction(atLeast: 1, atMost: size)
        if let drain = cursor.drain {
            if let anew = anew(reach, cursor: cursor, action: action, rules: rules) { return anew }
            return ReadPlan(
                kind: .delta,
                question: .changes(
                    since: drain.since,
                    after: ReadPlan.Place(changeTime: drain.lastChangeTime, path: drain.lastPath)),
                pageSize: size, prediction: bounds,
                reason: """
                    The last read of changes had more pages, so it continues where it stopped.
                    """)
        }
        guard let since = sinceOfDelta(cursor, rules), let readTime = cursor.readTime else {
            return nil
        }
        if let startedAt = reach.startedAt, readTime >= startedAt { return nil }
        // Rows of the overlap are returned again, in their new version if they changed.
        var prediction = bounds
        prediction.ifUnchanged = progress.repeatedChanges.map {
            min(max(1, $0), size)
        }
        prediction.rowsIfUnchanged = progress.repeatedChanges.map { min($0, size) }
        #if TIDEMARK_DEFECTS
            if rules.defects.contains(.overlapForgotten) { prediction.ifUnchanged = 1 }
        #endif
        return ReadPlan(
            kind: .delta, question: .changes(since: since, after: nil), pageSize: size,
            prediction: prediction,
            reason: "Everything up to the last read is stored, so only later changes are read, "
                + "with an overlap of \(cursor.overlap) for writes in progress.")
    }

    private static func sinceOfDelta(_ cursor: ChangeCursor, _ rules: FeedRules) -> Timestamp? {
        #if TIDEMARK_DEFECTS
            if rules.defects.contains(.overlapForgotten) { return cursor.readTime }
        #endif
        return cursor.since
    }

    /// Returns a plan for new items: from the newest held item, whose time other items may share.
    private static func head(
        _ progress: FeedProgress, reach: SyncReach, action: Timestamp?, rules: FeedRules
    ) -> ReadPlan {
        let floor = FeedProgress.floor(action)
        guard let top = progress.held(above: action).last?.upperBound else {
            return page(
                floor..<CoveragePosition.highest, of: progress, reach: reach, action: action,
                rules: rules)
        }
        let size = reach.pageSize(rules)
        let (start, repeated) = startOfHead(progress, top: top, rules: rules)
        var prediction = ReadPlan.Prediction(
            atLeast: 1, atMost: size, ifUnchanged: min(max(1, repeated), size))
        prediction.rowsIfUnchanged = min(repeated, size)
        return ReadPlan(
            kind: .page,
            question: .items(max(floor, start)..<CoveragePosition.highest), pageSize: size,
            prediction: prediction,
            reason: "Everything up to the newest item is stored, so only items from its time on "
                + "are read.")
    }

    private static func startOfHead(
        _ progress: FeedProgress, top: CoveragePosition, rules: FeedRules
    ) -> (CoveragePosition, repeated: Int) {
        #if TIDEMARK_DEFECTS
            if rules.defects.contains(.equalTimesSkipped) { return (.end(of: top.time), 0) }
            if rules.defects.contains(.feedHeadOffByOne) { return (top, 0) }
        #endif
        return (.start(of: top.time), progress.headCount)
    }

    private static func page(
        _ gap: Range<CoveragePosition>, of progress: FeedProgress, reach: SyncReach,
        action: Timestamp?, rules: FeedRules
    ) -> ReadPlan {
        let size = reach.pageSize(rules)
        let isFull = progress.held(above: action).isEmpty
        let reason =
            isFull
            ? rules.limit != nil
                ? "Nothing is stored yet, so the newest items are read."
                : action == nil
                    ? "Nothing is stored yet, so everything is read once."
                    : "Nothing is stored yet, so everything above the clear mark is read once."
            : "A range between stored items was never read, so it is read once."
        return ReadPlan(
            kind: isFull ? .full : .page, question: .items(gap), pageSize: size,
            prediction: ReadPlan.Prediction(atLeast: 1, atMost: size), reason: reason)
    }

    /// Returns a plan to audit the items held before this sync.
    private static func audit(
        _ progress: FeedProgress, reach: SyncReach, action: Timestamp?, rules: FeedRules
    ) -> ReadPlan? {
        var ranges = progress.held(above: action)
        // Parts below a gap are audited when the feed reaches them.
        if rules.limit != nil { ranges = ranges.suffix(1) }
        if let startedAt = reach.startedAt {
            ranges = ranges.filter { range in
                progress.coverage.intervals.contains { held in
                    held.asOf < startedAt && held.lower < range.upperBound
                        && range.lowerBound < held.upper
                }
            }
        }
        if ranges.isEmpty { return nil }
        return auditPlan(ranges, rules)
    }

    /// Returns the time as of which an audit compares; nil for now.
    ///
    /// Changes up to the cursor's time are held. At a later time, the server would also count items
    /// added meanwhile, and an addition beside an old delete leaves the count unchanged.
    package static func timeOfAudit(_ progress: FeedProgress, _ rules: FeedRules) -> Timestamp? {
        guard case .changeTime = rules.way else { return nil }
        return progress.cursor.readTime
    }

    private static func auditPlan(
        _ ranges: [Range<CoveragePosition>], _ rules: FeedRules
    ) -> ReadPlan {
        ReadPlan(
            kind: .audit, question: .figures(ranges), pageSize: rules.pageSize,
            prediction: ReadPlan.Prediction(atLeast: ranges.count, atMost: nil),
            reason: """
                The stored items are counted, at one read per 1,000 items, and read again only
                """
                    + "where the server has another count.")
    }

    /// Returns a plan to read a range again in which an audit found a difference.
    package static func readAgain(
        _ range: Range<CoveragePosition>, _ rules: FeedRules
    ) -> ReadPlan {
        ReadPlan(
            kind: .page, question: .items(range), pageSize: rules.pageSize,
            prediction: ReadPlan.Prediction(atLeast: 1, atMost: rules.pageSize),
            reason: "The server has another count for this range, so it is read again.")
    }
}

// MARK: - Listening

extension ReadPlanner {
    /// The time for which a listener may be closed and still be billed only for changes. Google
    /// documents 30 minutes; one minute is subtracted, because the device knows only when it last
    /// received data.
    package static let resumeWindow = Duration.seconds(29 * 60)

    /// Returns the change time from which a feed listens: the start of its last listener if that
    /// can be continued, otherwise the last read time minus the overlap.
    ///
    /// - Parameter now: The time on the device's clock. A wrong clock costs reads but hides
    ///   nothing.
    /// - Returns: The change time; nil if something must be read first.
    package static func liveStart(_ progress: FeedProgress, now: Timestamp) -> Timestamp? {
        guard progress.cursor.drain == nil, let since = progress.cursor.since else { return nil }
        return resumes(progress, now: now) ? progress.live?.since : since
    }

    /// Returns true if a feed by change time can go on with its last listener.
    ///
    /// - Parameter now: The time on the device's clock.
    package static func resumes(_ progress: FeedProgress, now: Timestamp) -> Bool {
        guard let heardAt = progress.live?.heardAt else { return false }
        let age = now.duration(since: heardAt)
        return age >= .zero && age < resumeWindow
    }

    /// Returns the maximum number of rows of a listener to changes: a page more than it shows at
    /// first. In a bounded feed a page is at most the limit, because after that many changes the
    /// feed reads its newest items anew. If the last read was just now, the changes are read to
    /// their end instead.
    ///
    /// - Parameters:
    ///   - resumes: True if it goes on with the last listener, which must have the same limit.
    ///   - now: The server's time; nil before its first answer.
    package static func listenLimit(
        _ progress: FeedProgress, since: Timestamp, resumes: Bool, now: Timestamp?,
        _ rules: FeedRules
    ) -> Int {
        if resumes, let live = progress.live { return live.limit }
        let isRecent = now.map { $0.duration(since: since) <= progress.cursor.overlap * 2 } ?? false
        let page = isRecent ? rules.pageSize : min(rules.pageSize, rules.limit ?? .max)
        return page + progress.cursor.seen.count
    }

    /// Returns the cost of a listener that follows a read of the newest items. If these replace all
    /// held items, the listener resumes behind them.
    ///
    /// - Parameter now: The time of that read.
    package static func listener(
        behind plan: ReadPlan, at now: Timestamp, _ progress: FeedProgress, _ rules: FeedRules
    ) -> ReadPlan {
        let overlap = progress.cursor.overlap
        let next = FeedProgress(overlap: overlap)
        let since = now.advanced(by: .zero - overlap)
        let limit = listenLimit(next, since: since, resumes: false, now: now, rules)
        return listen(next, since: since, limit: limit, resumes: plan.beginsAnew, rules)
    }

    /// Returns the cost of starting to listen.
    ///
    /// - Parameters:
    ///   - limit: Rows that the listener shows at the most.
    ///   - resumes: True if it goes on with the last listener.
    package static func listen(
        _ progress: FeedProgress, since: Timestamp, limit: Int, resumes: Bool, _ rules: FeedRules
    ) -> ReadPlan {
        let question = ReadPlan.Question.changes(since: since, after: nil)
        if resumes {
            return ReadPlan(
                kind: .resume, question: question, pageSize: rules.pageSize,
                prediction: ReadPlan.Prediction(atLeast: 0, atMost: limit, ifUnchanged: 0),
                reason: "The last listener was up to date less than 30 minutes ago, so it resumes "
                    + "with later changes.")
        }
        var prediction = ReadPlan.Prediction(
            atLeast: 1, atMost: limit, ifUnchanged: progress.repeatedChanges.map { max(1, $0) })
        prediction.rowsIfUnchanged = progress.repeatedChanges
        return ReadPlan(
            kind: .delta, question: question, pageSize: rules.pageSize, prediction: prediction,
            reason: "Everything up to the last read is stored, so it listens to later changes, "
                + "with an overlap of \(progress.cursor.overlap) for writes in progress.")
    }
}
