package import TidemarkModel

/// What one sync has done so far.
package struct SyncReach: Hashable, Sendable {
    /// The server's time at its first page: with everything known as of then, it is done.
    package var startedAt: Timestamp?
    /// Whether the newest items were asked for.
    package var hasHead = false
    package var hasAudit = false

    package init() {}
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
            if let delta = delta(progress, reach, rules) { return delta }
        case .itemTime, .audit:
            if !reach.hasHead { return head(progress, action, rules) }
        }
        if let gap = progress.gaps(above: action, rules).last {
            return page(gap, of: progress, action, rules)
        }
        guard rules.way.audits, !reach.hasAudit else { return nil }
        return audit(progress, reach, action, rules)
    }

    private static func delta(
        _ progress: FeedProgress, _ reach: SyncReach, _ rules: FeedRules
    ) -> ReadPlan? {
        let cursor = progress.cursor
        let bounds = ReadPlan.Prediction(atLeast: 1, atMost: rules.pageSize)
        if let drain = cursor.drain {
            return ReadPlan(
                kind: .delta,
                question: .changes(
                    since: drain.since,
                    after: ReadPlan.Place(changeTime: drain.lastChangeTime, path: drain.lastPath)),
                pageSize: rules.pageSize, prediction: bounds,
                reason: "The last read of changes had more pages, so it goes on where it stopped.")
        }
        guard let since = sinceOfDelta(cursor, rules), let readTime = cursor.readTime else {
            return nil
        }
        if let startedAt = reach.startedAt, readTime >= startedAt { return nil }
        // Rows of the overlap come again unless they changed, and then as their new version.
        var prediction = bounds
        prediction.ifUnchanged = progress.repeatedChanges.map {
            min(max(1, $0), rules.pageSize)
        }
        #if TIDEMARK_DEFECTS
            if rules.defects.contains(.overlapForgotten) { prediction.ifUnchanged = 1 }
        #endif
        return ReadPlan(
            kind: .delta, question: .changes(since: since, after: nil), pageSize: rules.pageSize,
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
        _ progress: FeedProgress, _ action: Timestamp?, _ rules: FeedRules
    ) -> ReadPlan {
        let floor = FeedProgress.floor(action)
        guard let top = progress.held(above: action).last?.upperBound else {
            return page(floor..<CoveragePosition.highest, of: progress, action, rules)
        }
        let (start, repeated) = startOfHead(progress, top, rules)
        return ReadPlan(
            kind: .page,
            question: .items(max(floor, start)..<CoveragePosition.highest),
            pageSize: rules.pageSize,
            prediction: ReadPlan.Prediction(
                atLeast: 1, atMost: rules.pageSize,
                ifUnchanged: min(max(1, repeated), rules.pageSize)),
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
        _ gap: Range<CoveragePosition>, of progress: FeedProgress, _ action: Timestamp?,
        _ rules: FeedRules
    ) -> ReadPlan {
        let isFull = progress.held(above: action).isEmpty
        let reason =
            isFull
            ? action == nil
                ? "Nothing is held yet, so everything is read once."
                : "Nothing is held yet, so everything above the clear mark is read once."
            : "A part between items was never read, so it is read once."
        return ReadPlan(
            kind: isFull ? .full : .page, question: .items(gap),
            pageSize: rules.pageSize,
            prediction: ReadPlan.Prediction(atLeast: 1, atMost: rules.pageSize), reason: reason)
    }

    /// Over what was held before this sync.
    private static func audit(
        _ progress: FeedProgress, _ reach: SyncReach, _ action: Timestamp?, _ rules: FeedRules
    ) -> ReadPlan? {
        var ranges = progress.held(above: action)
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
