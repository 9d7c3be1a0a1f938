package import TidemarkModel

/// What one sync has done so far.
package struct SyncReach: Hashable, Sendable {
    /// The server's time at its first page: with everything known as of then, it is done.
    package var startedAt: Timestamp?
    /// Whether the newest items were asked for.
    package var hasHead = false
    package var hasAudit = false
    /// Rows of changes that were new here.
    package var news = 0
    /// In a bounded feed: how many items are held from its base up, where the disk has told it.
    package var held: Int?
    /// In a bounded feed: how many are wanted at the least, for example because somebody scrolled down
    /// to them; its limit where that is more.
    package var wanted = 0

    package init() {}

    /// For older items alone: as of the last read, nothing newer is asked for.
    package init(olderOf progress: FeedProgress) {
        startedAt = progress.lastReadTime
        hasHead = true
    }

    /// Takes a page that has arrived.
    package mutating func take(_ plan: ReadPlan?, news: Int) {
        held = nil
        switch plan?.question {
        case .changes?: self.news += news
        case .items(let range)? where range.upperBound != .highest:
            // It may have joined what was held long ago.
            hasAudit = false
            return
        case .items?, .figures?, .marks?, nil: break
        }
        if plan?.beginsAnew == true { self.news = 0 }
        hasHead = true
    }

    /// Takes changes that came without a plan.
    package mutating func takeChanges(news: Int) {
        self.news += news
        hasHead = true
    }

    /// How many items are to be held; nil for all.
    func target(_ rules: FeedRules) -> Int? { rules.limit.map { max($0, wanted) } }

    /// Rows of a page that need not bring more than the target.
    func pageSize(_ rules: FeedRules) -> Int { min(rules.pageSize, target(rules) ?? .max) }
}

/// Picks the cheapest read that is complete. Pure: from what is stored to a plan.
///
/// A sync asks for one plan after the other until there is none: first what is new, then what was
/// never read, the newest first, then whether what is held is still right.
package enum ReadPlanner {
    /// - Parameter action: The clear mark.
    /// - Returns: Nil when everything above the clear mark is held as of this sync.
    package static func next(
        _ progress: FeedProgress, _ reach: SyncReach, action: Timestamp?, _ rules: FeedRules
    ) -> ReadPlan? {
        switch rules.way {
        case .changeTime:
            if let delta = delta(progress, reach, action, rules) { return delta }
        case .itemTime, .audit:
            if !reach.hasHead { return head(progress, reach, action, rules) }
        }
        if let gap = progress.gaps(above: action, rules).last {
            return page(gap, of: progress, reach, action, rules)
        }
        if rules.way.audits, !reach.hasAudit,
            let audit = audit(progress, reach, action, rules)
        {
            return audit
        }
        return older(progress, reach, action, rules)
    }

    /// In a bounded feed that holds fewer than it should: a page below its base.
    private static func older(
        _ progress: FeedProgress, _ reach: SyncReach, _ action: Timestamp?, _ rules: FeedRules
    ) -> ReadPlan? {
        guard let target = reach.target(rules), let held = reach.held, held < target,
            let tail = progress.tail(above: action, rules)
        else { return nil }
        let size = min(rules.pageSize, target - held)
        return ReadPlan(
            kind: .page, question: .items(tail), pageSize: size,
            prediction: ReadPlan.Prediction(atLeast: 1, atMost: size),
            reason: "Of \(target) items \(held) are held, so older ones are read.")
    }

    /// Where more has changed in an absence than a bounded feed holds: what it holds is given up for the
    /// newest. What changed within the overlap would come again at once, so that is read to its end.
    private static func anew(
        _ reach: SyncReach, _ cursor: ChangeCursor, _ action: Timestamp?, _ rules: FeedRules
    ) -> ReadPlan? {
        guard let target = reach.target(rules), reach.news >= target, let drain = cursor.drain,
            drain.readTime.duration(since: drain.since) > cursor.overlap * 2
        else { return nil }
        let size = reach.pageSize(rules)
        var plan = ReadPlan(
            kind: .full, question: .items(FeedProgress.floor(action)..<CoveragePosition.highest),
            pageSize: size, prediction: ReadPlan.Prediction(atLeast: 1, atMost: size),
            reason: "More has changed than the \(target) newest items, so these are read anew.")
        plan.beginsAnew = true
        return plan
    }

    private static func delta(
        _ progress: FeedProgress, _ reach: SyncReach, _ action: Timestamp?, _ rules: FeedRules
    ) -> ReadPlan? {
        let cursor = progress.cursor
        // Beside those that come again, no more than it holds.
        let most = (reach.target(rules) ?? .max).addingReportingOverflow(cursor.seen.count)
        let size = most.overflow ? rules.pageSize : min(rules.pageSize, most.partialValue)
        let bounds = ReadPlan.Prediction(atLeast: 1, atMost: size)
        if let drain = cursor.drain {
            if let anew = anew(reach, cursor, action, rules) { return anew }
            return ReadPlan(
                kind: .delta,
                question: .changes(
                    since: drain.since,
                    after: ReadPlan.Place(changeTime: drain.lastChangeTime, path: drain.lastPath)),
                pageSize: size, prediction: bounds,
                reason: "The last read of changes had more pages, so it goes on where it stopped.")
        }
        guard let since = sinceOfDelta(cursor, rules), let readTime = cursor.readTime else {
            return nil
        }
        if let startedAt = reach.startedAt, readTime >= startedAt { return nil }
        // Rows of the overlap come again unless they changed, and then as their new version.
        var prediction = bounds
        prediction.ifUnchanged = progress.repeatedChanges.map {
            min(max(1, $0), size)
        }
        #if TIDEMARK_DEFECTS
            if rules.defects.contains(.overlapForgotten) { prediction.ifUnchanged = 1 }
        #endif
        return ReadPlan(
            kind: .delta, question: .changes(since: since, after: nil), pageSize: size,
            prediction: prediction,
            reason: "Everything up to the last read is held, so only what changed since is read, "
                + "with \(cursor.overlap) of overlap for writes that were under way.")
    }

    private static func sinceOfDelta(_ cursor: ChangeCursor, _ rules: FeedRules) -> Timestamp? {
        #if TIDEMARK_DEFECTS
            if rules.defects.contains(.overlapForgotten) { return cursor.readTime }
        #endif
        return cursor.since
    }

    /// What is new: from the newest item that is held, whose time others may have too.
    private static func head(
        _ progress: FeedProgress, _ reach: SyncReach, _ action: Timestamp?, _ rules: FeedRules
    ) -> ReadPlan {
        let floor = FeedProgress.floor(action)
        guard let top = progress.held(above: action).last?.upperBound else {
            return page(floor..<CoveragePosition.highest, of: progress, reach, action, rules)
        }
        let size = reach.pageSize(rules)
        let (start, repeated) = startOfHead(progress, top, rules)
        return ReadPlan(
            kind: .page,
            question: .items(max(floor, start)..<CoveragePosition.highest), pageSize: size,
            prediction: ReadPlan.Prediction(
                atLeast: 1, atMost: size, ifUnchanged: min(max(1, repeated), size)),
            reason: "Everything up to the newest item is held, so only those of its time and later "
                + "are read.")
    }

    private static func startOfHead(
        _ progress: FeedProgress, _ top: CoveragePosition, _ rules: FeedRules
    ) -> (CoveragePosition, repeated: Int) {
        #if TIDEMARK_DEFECTS
            if rules.defects.contains(.equalTimesSkipped) { return (.end(of: top.time), 0) }
            if rules.defects.contains(.feedHeadOffByOne) { return (top, 0) }
        #endif
        return (.start(of: top.time), progress.headCount)
    }

    private static func page(
        _ gap: Range<CoveragePosition>, of progress: FeedProgress, _ reach: SyncReach,
        _ action: Timestamp?, _ rules: FeedRules
    ) -> ReadPlan {
        let size = reach.pageSize(rules)
        let isFull = progress.held(above: action).isEmpty
        let reason =
            isFull
            ? rules.limit != nil
                ? "Nothing is held yet, so the newest items are read."
                : action == nil
                    ? "Nothing is held yet, so everything is read once."
                    : "Nothing is held yet, so everything above the clear mark is read once."
            : "A part between items was never read, so it is read once."
        return ReadPlan(
            kind: isFull ? .full : .page, question: .items(gap), pageSize: size,
            prediction: ReadPlan.Prediction(atLeast: 1, atMost: size), reason: reason)
    }

    /// Over what was held before this sync.
    private static func audit(
        _ progress: FeedProgress, _ reach: SyncReach, _ action: Timestamp?, _ rules: FeedRules
    ) -> ReadPlan? {
        var ranges = progress.held(above: action)
        // What lies below a gap counts when it is reached.
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

    /// As of when an audit compares; nil for now.
    ///
    /// What changed up to the cursor's time is held. Counted at a later time, the server would have what
    /// came meanwhile, and that beside an old delete leaves the count as it was.
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
            reason: "What is held is counted, at a read for every 1,000 items, and read again only "
                + "where the server counts otherwise.")
    }

    /// A part in which an audit found a difference.
    package static func readAgain(
        _ range: Range<CoveragePosition>, _ rules: FeedRules
    ) -> ReadPlan {
        ReadPlan(
            kind: .page, question: .items(range), pageSize: rules.pageSize,
            prediction: ReadPlan.Prediction(atLeast: 1, atMost: rules.pageSize),
            reason: "The server counts otherwise here, so this part is read again.")
    }
}

// MARK: - Listening

extension ReadPlanner {
    /// How long a listener may be away and is still billed for the changes only. Documented by
    /// Google: 30 minutes; a minute less, as the device only knows when it last heard.
    package static let resumeWindow = Duration.seconds(29 * 60)

    /// From when on a feed by change time listens: from where it did last, if that can still be gone
    /// on with, else from the last read less the overlap.
    ///
    /// - Parameter now: The device's clock. A wrong one costs reads, and hides nothing.
    /// - Returns: Nil where something has to be read first.
    package static func liveStart(_ progress: FeedProgress, now: Timestamp) -> Timestamp? {
        guard progress.cursor.drain == nil, let since = progress.cursor.since else { return nil }
        guard let live = progress.live, let heardAt = live.heardAt else { return since }
        let age = now.duration(since: heardAt)
        return age >= .zero && age < resumeWindow ? live.since : since
    }

    /// Rows that a listener to changes shows at the most: a page more than it shows at first.
    package static func listenLimit(
        _ progress: FeedProgress, since: Timestamp, _ rules: FeedRules
    ) -> Int {
        if let live = progress.live, live.since == since { return live.limit }
        return rules.pageSize + progress.cursor.seen.count
    }

    /// What it costs to begin to listen.
    package static func listen(
        _ progress: FeedProgress, since: Timestamp, _ rules: FeedRules
    ) -> ReadPlan {
        let question = ReadPlan.Question.changes(since: since, after: nil)
        if progress.live?.since == since, progress.live?.heardAt != nil {
            return ReadPlan(
                kind: .resume, question: question, pageSize: rules.pageSize,
                prediction: ReadPlan.Prediction(
                    atLeast: 0, atMost: listenLimit(progress, since: since, rules), ifUnchanged: 0),
                reason: "The last listener heard something less than 30 minutes ago, so it goes on "
                    + "for what changed since.")
        }
        return ReadPlan(
            kind: .delta, question: question, pageSize: rules.pageSize,
            prediction: ReadPlan.Prediction(
                atLeast: 1, atMost: listenLimit(progress, since: since, rules),
                ifUnchanged: progress.repeatedChanges.map { max(1, $0) }),
            reason: "Everything up to the last read is held, so it listens to what changed since, "
                + "with \(progress.cursor.overlap) of overlap for writes that were under way.")
    }
}
