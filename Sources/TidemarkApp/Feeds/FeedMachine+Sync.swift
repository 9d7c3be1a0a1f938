import Tidemark

// Pages from the server, one after the other.

extension FeedMachine {
    /// A sync that runs, shared by all calls that asked meanwhile.
    struct SyncRun: Hashable {
        enum Stage: Hashable { case waiting, indexes, page, settling }

        var stage = Stage.waiting
        var calls: [CallID]
        var result = FeedSync()
    }

    mutating func beginSync(_ call: CallID) {
        if sync != nil {
            sync?.calls.append(call)
            return
        }
        sync = SyncRun(calls: [call])
        if failure != nil { isChanged = true }
        failure = nil
    }

    /// Once the records are there: indexes before the first documents come, so that they are indexed
    /// as they are stored.
    mutating func startSync(_ effects: inout [Effect]) {
        guard let run = sync else { return }
        switch run.stage {
        case .waiting where !hasIndexes:
            sync?.stage = .indexes
            effects.append(.declareIndexes)
        case .waiting: fetch(&effects)
        case .settling: settleSync(&effects)
        case .indexes, .page: break
        }
    }

    mutating func indexesDeclared(_ effects: inout [Effect]) {
        hasIndexes = true
        guard sync?.stage == .indexes else { return }
        fetch(&effects)
    }

    private mutating func fetch(_ effects: inout [Effect]) {
        let plan = plan
        sync?.stage = .page
        sync?.result.plans.append(plan)
        effects.append(.fetch(FeedFetch(plan: plan, progress: progress, action: marks.action)))
    }

    /// Nothing has moved forward unless it has arrived and is stored.
    mutating func fetched(_ page: FeedPage, _ now: Timestamp, _ effects: inout [Effect]) {
        guard var run = sync, run.stage == .page else { return }
        progress = page.progress
        // It may have moved while the page was on its way.
        if let action = marks.action { progress.cut(action: action) }
        serverTime.learn(page.readTime, deviceNow: now)
        run.result.reads += max(1, page.rows)
        run.result.changed += page.changed.count
        run.result.readTime = progress.readTime
        sync = run
        changed.formUnion(page.changed)
        mustReadChanges = true
        if progress.isDrained || run.result.plans.count >= Self.maxPages {
            sync?.stage = .settling
        } else {
            fetch(&effects)
        }
    }

    private mutating func settleSync(_ effects: inout [Effect]) {
        guard isSettled, let run = sync else { return }
        isFresh = progress.isDrained
        isChanged = true
        sync = nil
        for call in run.calls { waiting.append(Waiting(call: call, outcome: .synced(run.result))) }
    }

    mutating func endSync(_ outcome: Outcome, _ effects: inout [Effect]) {
        guard let run = sync else { return }
        sync = nil
        for call in run.calls { effects.append(.finish(call, outcome)) }
        if case .failed(let error) = outcome {
            failure = error
            isChanged = true
        }
    }

    mutating func failed(_ work: Work, _ error: FirestoreError, _ effects: inout [Effect]) {
        switch work {
        case .load, .items, .changes, .count: diskFailed(error, &effects)
        case .indexes, .page: endSync(.failed(error), &effects)
        case .marks(let call): notSaved(call, error, &effects)
        }
    }
}
