import Tidemark

// A sync runs the server's plans one after another until there is none.

extension FeedMachine {
    /// A running sync, which all calls during the sync share.
    struct SyncRun: Hashable {
        enum Stage: Hashable {
            case waiting, indexes, marks, counting, changes, page, audit, saving, settling
        }

        var stage = Stage.waiting
        var calls: [CallID] = []
        /// True if the sync makes no request that the opening listener makes too.
        var joinsListener = false
        /// The calls that wait for older items.
        var loads: [CallID] = []
        /// True if the sync reads only older items.
        var isOlder = false
        /// The maximum number of reads; nil for no maximum. With a maximum there is no audit.
        var maxReads: Int?
        var result = FeedSync()
        var reach = SyncReach()
        var audit: FeedAudit?
        /// The number of documents that the audit found and that change times had hidden.
        var hidden = 0
        var hasMarks = false
        /// True if the marks are read once more.
        var readsMarksAgain = false
        /// The numbers of the waits for the listeners to the marks and to changes; nil if there is
        /// no wait.
        var marksWait: Int?
        var changesWait: Int?
        /// True if the marks were dropped because a query with them failed.
        var hasDropped = false
        /// The last snapshot of the listener while a page is loading; nil if there is none.
        var heard: Heard?

        struct Heard: Hashable {
            let rows: [FeedBookRow]
            let range: Range<CoveragePosition>?
            let readTime: Timestamp
            let notedAt: Timestamp
        }
    }

    mutating func beginSync(_ call: CallID, maxReads: Int?) {
        if let run = sync {
            sync?.calls.append(call)
            if run.isOlder {
                readEverything()
                sync?.maxReads = maxReads
            } else if let most = run.maxReads {
                // The larger of the two maximums counts.
                sync?.maxReads = maxReads.map { max($0, most) }
            }
            return
        }
        sync = SyncRun(calls: [call], maxReads: maxReads)
        if failure != nil { isChanged = true }
        failure = nil
    }

    /// Syncs the feed through a listener, if a listener can report everything that is missing.
    mutating func comeLive(_ call: CallID, now: DeviceTime, effects: inout [Effect]) {
        live(true, &effects)
        beginSync(call, maxReads: nil)
        guard sync?.calls == [call] else { return }
        sync?.joinsListener = true
        // The listeners are opened before the sync requests anything.
        advanceLive(now, &effects)
    }

    /// True if the sync has requested no rows that a listener can report too.
    var mayJoinListener: Bool {
        guard let run = sync, run.joinsListener, !run.isOlder, run.reach.startedAt == nil
        else { return false }
        switch run.stage {
        case .waiting, .indexes, .marks, .counting, .changes: return run.audit == nil
        case .page, .audit, .saving, .settling: return false
        }
    }

    /// Turns a read of older items into a complete sync.
    private mutating func readEverything() {
        sync?.isOlder = false
        sync?.reach = SyncReach()
        sync?.hasMarks = false
        if failure != nil { isChanged = true }
        failure = nil
    }

    /// Starts a read of older items in a bounded feed that shows all held items, if more are
    /// needed: for waiting calls, or because items were removed while the feed listens.
    mutating func beginOlder(isListening: Bool = false) {
        guard sync == nil, isSettled, isShort else { return }
        let calls = waiting.filter { $0.wantsOlder && !$0.isSaving }.map(\.call)
        guard isListening || !calls.isEmpty else { return }
        waiting.removeAll { calls.contains($0.call) }
        var run = SyncRun(loads: calls, isOlder: true)
        run.reach = SyncReach(olderOf: progress)
        run.hasMarks = true
        sync = run
    }

    /// Starts the sync after the records were loaded. The indexes come before the first documents,
    /// because documents are indexed when they are stored.
    mutating func startSync(_ effects: inout [Effect]) {
        guard let run = sync else { return }
        if run.stage == .waiting, mustSaveMarks {
            mustSaveMarks = false
            effects.append(.save(marks, nil))
        }
        switch run.stage {
        case .waiting where !hasIndexes:
            sync?.stage = .indexes
            effects.append(.declareIndexes)
        case .waiting:
            readNext(&effects)
            // A read of older items begins with the items that the disk has returned already.
            if sync?.stage == .settling { settleSync(&effects) }
        case .settling: settleSync(&effects)
        case .indexes, .marks, .counting, .changes, .page, .audit, .saving: break
        }
    }

    mutating func indexesDeclared(_ effects: inout [Effect]) {
        hasIndexes = true
        if sync?.stage == .indexes { readNext(&effects) }
    }

    mutating func readNext(_ effects: inout [Effect]) {
        guard var run = sync else { return }
        run.reach = known(run.reach)
        var rules = settings.rules
        if let most = run.maxReads {
            run.reach.hasAudit = true
            // A page of a budget is smaller than the page that a count would choose.
            run.reach.countsChanges = false
            rules.pageSize = max(1, min(rules.pageSize, most - run.result.reads))
        }
        sync = run
        if lacksMarks(run) {
            findMarks(run, &effects)
        } else if live.isOpening, mayJoinListener {
            sync?.stage = .changes
            let wait = awaitListener(&effects)
            sync?.changesWait = wait
        } else if run.result.plans.count >= Self.maxPages {
            sync?.stage = .settling
        } else if run.audit != nil {
            auditNext(&effects)
        } else if let plan = ReadPlanner.next(
            progress, reach: run.reach, action: marks.action, rules: rules)
        {
            if let most = run.maxReads, run.result.reads >= most {
                sync?.result.isCut = true
                sync?.stage = .settling
                return
            }
            begin(plan, &effects)
            if case .figures(let ranges) = plan.question {
                sync?.audit = FeedAudit(
                    ranges, asOf: ReadPlanner.timeOfAudit(progress, settings.rules))
                #if TIDEMARK_DEFECTS
                    sync?.audit?.defects = settings.rules.defects
                #endif
                auditNext(&effects)
            } else if case .changeCount(let since, let most) = plan.question {
                sync?.stage = .counting
                effects.append(.countChanges(since: since, upTo: most))
            } else {
                fetch(plan, &effects)
            }
        } else {
            sync?.stage = .settling
        }
    }

    mutating func begin(_ plan: ReadPlan, _ effects: inout [Effect]) {
        sync?.result.plans.append(plan)
        notify(.asked(plan), &effects)
    }

    private mutating func fetch(_ plan: ReadPlan, _ effects: inout [Effect]) {
        sync?.stage = .page
        if let floor = plan.floor, floor == marks.action { notify(.used(floor), &effects) }
        effects.append(
            .fetch(
                FeedFetch(
                    plan: plan, progress: progress, action: marks.action, askedAt: wall)))
    }

    /// Takes a page that has arrived and is stored. Nothing moves forward before that.
    mutating func fetched(
        _ page: FeedPage, stored: [DocumentPath], now: DeviceTime, effects: inout [Effect]
    ) {
        guard var run = sync, run.stage == .page else { return }
        // `learn` runs before the page's progress is taken: that progress makes the server's time
        // known, and `learn` must see the first known time.
        let asked = marks.action
        learn(page.readTime, at: now, &effects)
        take(page.progress, of: page.plan)
        run.heard = nil
        // The mark can have moved while the page was loading.
        if let action = marks.action { progress.cut(action: action) }
        run.result.reads += max(1, page.rows)
        run.result.changed += stored.count
        run.reach.startedAt = run.reach.startedAt ?? page.readTime
        run.reach.take(page.plan, news: page.changed.count)
        // The mark was ahead of the server's time and has moved back, and nothing above it was
        // held. The items in between are requested.
        if let asked, marks.action.map({ $0 < asked }) ?? false,
            progress.held(above: marks.action).isEmpty
        {
            run.reach.hasHead = false
        }
        if page.covered != nil, run.audit != nil {
            run.audit?.wasRead(rest: page.rest)
            if case .changeTime = settings.rules.way { run.hidden += page.hidden(among: stored) }
        }
        sync = run
        disk.readChanges(page.changed)
        disk.readChanges(stored)
        readNext(&effects)
    }

    /// Takes the progress of a page. A listener's snapshots that arrived while the page was loading
    /// are not in that progress, and are added to it.
    private mutating func take(_ next: FeedProgress, of plan: ReadPlan?) {
        let known = progress
        progress = next
        if plan?.beginsAnew == true { return }
        progress.keepListener(of: known)
        guard let heard = sync?.heard else { return }
        progress.heard(
            heard.rows, in: heard.range, readTime: heard.readTime, settings.rules)
        progress.note(now: heard.notedAt)
    }

    private mutating func settleSync(_ effects: inout [Effect]) {
        guard isSettled, sync != nil else { return }
        if isShort, let target {
            sync?.reach.held = disk.held(of: target)
            readNext(&effects)
        }
        guard var run = sync, run.stage == .settling else { return }
        run.result.readTime = readTime
        if !run.isOlder {
            let isWhole = run.maxReads == nil || !settings.rules.way.audits && !run.result.isCut
            isFresh = readTime != nil && isWhole
            failure = nil
        }
        isChanged = true
        sync = nil
        for call in run.calls { waiting.append(Waiting(call: call, outcome: .synced(run.result))) }
        for call in run.loads { waiting.append(Waiting(call: call, outcome: .opened)) }
    }

    mutating func endSync(_ outcome: Outcome, _ effects: inout [Effect]) {
        guard let run = sync else { return }
        sync = nil
        for number in [run.marksWait, run.changesWait] {
            if let number { effects.append(.unlisten(number)) }
        }
        for call in run.calls + run.loads { effects.append(.finish(call, outcome)) }
        if case .failed(let error) = outcome {
            failure = error
            isChanged = true
        }
    }
}

// MARK: - After a long absence

extension FeedMachine {
    /// True if a bounded feed was inactive for so long that it counts the changes before it reads.
    ///
    /// Only the device's clock measures the absence. A wrong clock hides nothing. It costs a read
    /// for a count, or as many changes as the feed holds.
    private var wasAwayForLong: Bool {
        guard settings.rules.limit != nil, case .changeTime = settings.rules.way,
            progress.cursor.drain == nil, let wall, let notedAt = progress.notedAt
        else { return false }
        return wall.duration(since: notedAt) >= settings.rules.longAbsence
    }

    /// Adds the machine's facts to a sync's reach.
    func known(_ reach: SyncReach) -> SyncReach {
        guard settings.rules.limit != nil else { return reach }
        var reach = reach
        reach.wanted = disk.window.size
        reach.countsChanges = wasAwayForLong
        // A count from before another read is not valid for the changes since then.
        reach.counted = counted.flatMap { $0.since == progress.cursor.since ? $0.count : nil }
        return reach
    }

    /// True if a count, or a read of the newest items, must come before a listener to changes.
    var mustReadBeforeListening: Bool {
        ReadPlanner.afterLongAbsence(
            progress, reach: known(SyncReach()), action: marks.action, rules: settings.rules) != nil
    }

    /// Takes the count that a plan has requested. If the listener will report the changes, the sync
    /// does not read them, so each change costs one read.
    mutating func changesCounted(
        _ count: CountedChanges, at readTime: Timestamp, now: DeviceTime,
        effects: inout [Effect]
    ) {
        guard let run = sync, run.stage == .counting else { return }
        learn(readTime, at: now, &effects)
        counted = count
        sync?.result.reads += max(1, (count.count + 999) / 1_000)
        if run.calls.isEmpty, live.isWanted, !live.isWaiting, live.listen == nil,
            nextListen(now) != nil
        {
            sync = nil
            return
        }
        if run.joinsListener { advanceLive(now, &effects) }
        readNext(&effects)
    }

    /// Requests the changes if the server refuses to count them.
    mutating func changesNotCounted(_ error: FirestoreError, _ effects: inout [Effect]) {
        guard sync?.stage == .counting, let since = progress.cursor.since else { return }
        switch error.code {
        case .permissionDenied, .failedPrecondition, .invalidArgument, .unimplemented:
            counted = CountedChanges(since: since, count: 0)
            readNext(&effects)
        default: failed(.page, error: error, effects: &effects)
        }
    }
}

// MARK: - Audits

extension FeedMachine {
    private mutating func auditNext(_ effects: inout [Effect]) {
        switch sync?.audit?.next {
        case .compare(let range, let expected, let readTime)?:
            sync?.stage = .audit
            effects.append(.compare(range, expected: expected, at: readTime))
        case .read(let range)?:
            let plan = ReadPlanner.readAgain(range, settings.rules)
            begin(plan, &effects)
            fetch(plan, &effects)
        case nil:
            if let audit = sync?.audit, let readTime = audit.readTime {
                progress.confirm(audit.confirmed, asOf: readTime)
            }
            sync?.audit = nil
            if let count = sync?.hidden, count > 0 { notify(.foundByAudit(count), &effects) }
            sync?.hidden = 0
            sync?.reach.hasAudit = true
            // Items that agree with the server can have been stored by other reads, and are not
            // shown yet.
            disk.readChanges()
            sync?.stage = .saving
            effects.append(.saveProgress(progress))
            mustSaveProgress = false
        }
    }

    mutating func compared(
        _ comparison: FeedComparison, now: DeviceTime, effects: inout [Effect]
    ) {
        guard var run = sync, run.stage == .audit else { return }
        run.result.reads += comparison.reads
        run.audit?.compared(
            held: comparison.held, server: comparison.server, middle: comparison.middle,
            at: comparison.readTime)
        if let readTime = comparison.readTime {
            learn(readTime, at: now, &effects)
            run.reach.startedAt = run.reach.startedAt ?? readTime
        }
        sync = run
        readNext(&effects)
    }

    mutating func progressSaved(_ effects: inout [Effect]) {
        if sync?.stage == .saving { readNext(&effects) }
    }
}

// MARK: - Failures

extension FeedMachine {
    mutating func failed(_ work: Work, error: FirestoreError, effects: inout [Effect]) {
        switch work {
        case .load, .items, .changes: diskFailed(error, isCount: false, &effects)
        case .count: diskFailed(error, isCount: true, &effects)
        case .page where mayDropMarks(error): dropMarks(error, &effects)
        case .changeCount: changesNotCounted(error, &effects)
        case .indexes, .page:
            endSync(.failed(error), &effects)
            waitToTryAgain(&effects)
        case .marks(let call): notSaved(call, error: error, effects: &effects)
        case .share: notify(.notShared(error), &effects)
        }
    }

    /// True if the server rejected the filter itself. An outage, a missing permission or a used-up
    /// quota would also happen without the filter.
    private func mayDropMarks(_ error: FirestoreError) -> Bool {
        guard let run = sync, run.stage == .page, !run.hasDropped, let action = marks.action,
            run.result.plans.last?.floor == action
        else { return false }
        return [.invalidArgument, .failedPrecondition, .outOfRange].contains(error.code)
    }

    private mutating func dropMarks(_ error: FirestoreError, _ effects: inout [Effect]) {
        notify(.dropped(marks, error), &effects)
        marks = Marks()
        sync?.hasDropped = true
        effects.append(.save(marks, nil))
        disk.readAnew()
        isChanged = true
        readNext(&effects)
    }
}
