import Tidemark

/// The requests of a feed that begins to listen, if the changes of others are known. Sends nothing.
struct FeedExpectation<Content: Hashable & Sendable> {
    private var machine: FeedMachine<Content>
    private let now: DeviceTime
    /// The number of documents that have changed since the last read.
    private let changes: Int
    /// The number of items above the clear mark.
    private let items: Int

    /// - Parameter now: The device's clocks.
    init(_ machine: FeedMachine<Content>, changes: Int, items: Int, at now: DeviceTime) {
        self.machine = machine
        self.machine.wall = now.wall
        (self.changes, self.items, self.now) = (changes, items, now)
    }

    /// The requests until the feed is live, in order; nil if they depend on more than these
    /// numbers: with an audit, after a read of changes that was interrupted, and where the answer
    /// has more rows than a page.
    var reads: [ExpectedRead]? {
        let settings = machine.settings
        guard case .changeTime(audited: false) = settings.rules.way, machine.opening == .open
        else { return nil }
        let marks = settings.sharesMarks ? [marksRead] : []
        if let listener { return firstAnswer(of: listener).map { marks + [$0] } }
        return readsBeforeListening.map { marks + $0 }
    }

    /// The listener to the shared marks, which others are expected not to change. It resumes if the
    /// feed was up to date within the last minutes, and therefore listened to them.
    private var marksRead: ExpectedRead {
        let age = machine.progress.notedAt.map { now.wall.duration(since: $0) }
        let resumes = age.map { $0 >= .zero && $0 < ReadPlanner.resumeWindow } ?? false
        return resumes ? ExpectedRead(.resumedMarks, rows: 0) : ExpectedRead(.sharedMarks, rows: 1)
    }

    /// The listener to changes; nil if something must be read before it.
    private var listener: ReadPlan? {
        guard case .changes(let since)? = machine.nextListen(now) else { return nil }
        let (progress, rules) = (machine.progress, machine.settings.rules)
        let resumes = ReadPlanner.resumes(progress, now: machine.serverNow(now))
        let limit = ReadPlanner.listenLimit(
            progress, since: since, resumes: resumes, now: machine.serverTime.estimate(at: now),
            rules)
        return ReadPlanner.listen(
            progress, since: since, limit: limit, resumes: resumes, rules)
    }

    /// Returns the first answer of a listener; nil if it has more rows than the listener shows.
    private func firstAnswer(of listener: ReadPlan) -> ExpectedRead? {
        let repeated = listener.kind == .resume ? 0 : machine.progress.repeatedChanges ?? 0
        guard let limit = listener.prediction.atMost, changes + repeated < limit else { return nil }
        return ExpectedRead(listener, rows: changes + repeated)
    }

    private var readsBeforeListening: [ExpectedRead]? {
        let rules = machine.settings.rules
        var reads: [ExpectedRead] = []
        var reach = machine.known(SyncReach())
        guard var plan = self.plan(reach) else { return nil }
        if case .changeCount(let since, let most) = plan.question {
            let counted = min(most, changes + (machine.progress.repeatedChanges ?? 0))
            reads.append(ExpectedRead(plan, rows: counted))
            var informed = self
            informed.machine.counted = CountedChanges(since: since, count: counted)
            if let listener = informed.listener {
                return firstAnswer(of: listener).map { reads + [$0] }
            }
            reach.counted = counted
            guard let newest = self.plan(reach) else { return nil }
            plan = newest
        }
        guard case .items = plan.question, plan.kind == .full else { return nil }
        let rows = min(items, plan.pageSize)
        // A full page is followed by more, unless the feed has a limit.
        let wanted = rules.limit.map { max($0, machine.disk.window.size) }
        guard rows < plan.pageSize || wanted == plan.pageSize else { return nil }
        reads.append(ExpectedRead(plan, rows: rows))
        let listener = ReadPlanner.listener(
            behind: plan, at: machine.serverNow(now), machine.progress, rules)
        return reads + [ExpectedRead(listener, rows: 0)]
    }

    private func plan(_ reach: SyncReach) -> ReadPlan? {
        ReadPlanner.next(
            machine.progress, reach: reach, action: machine.marks.action,
            rules: machine.settings.rules)
    }
}
