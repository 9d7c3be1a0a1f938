public import TidemarkModel

/// What observers of the meter are told.
public enum ReadEvent: Hashable, Sendable {
    /// These reads were billed now; ``ReadRow/reads`` counts them alone.
    case billed(ReadRow)
    /// A budget was used up. Once a day and budget.
    case budgetSpent(ReadBudget, on: BillingDay)
    /// One listener's result was about to cost without an end: its query's canonical form, what was asked
    /// for again and again, and how long nothing is asked for now.
    case stormStopped(query: String, ReadCause, pause: Duration)
    /// An attempt of a call failed, a read's or a transaction's commit: the next one follows after so
    /// long, or there is none.
    case attemptFailed(CallAttempt, nextAfter: Duration?)
}

// The meter: what was billed, for whom, and what the budgets say to the next read.

extension EngineCore {
    /// Reads are stored with whatever is stored next, but not more often than this.
    private static let shortestPauseOfSaving = Duration.seconds(1)
    /// And by themselves when nothing is. What a kill takes is of this time at the most.
    private static let longestPauseOfSaving = Duration.seconds(10)

    /// What the server's clock reads, as far as it is known; before it was heard, the device's own.
    var serverNow: Timestamp {
        guard let last = lastServerTime else { return environment.now() }
        return last.time.advanced(by: environment.scheduler.elapsed - last.elapsed)
    }

    /// - Parameter time: Of an answer that has just come.
    func heardServerTime(_ time: Timestamp?) {
        guard let time, time > .epoch else { return }
        let elapsed = environment.scheduler.elapsed
        // An answer may be of a while ago; the server's clock does not go back.
        if let last = lastServerTime, last.time.advanced(by: elapsed - last.elapsed) > time {
            return
        }
        lastServerTime = (time, elapsed)
    }

    // MARK: Counting

    func record(_ bill: ReadBilling.Bill, _ tag: ReadTag) {
        heardServerTime(bill.time)
        guard bill.reads > 0 || bill.isLowerBound else { return }
        record(
            ReadCount(reads: bill.reads, lowerBounds: bill.isLowerBound ? 1 : 0), tag.or(.get),
            at: bill.time)
    }

    /// - Parameter bills: Of targets that are there still.
    func record(_ bills: [ListenBilling.Bill]) {
        for bill in bills {
            heardServerTime(bill.time)
            guard let target = remoteTargets[bill.targetID] else { continue }
            var tag = target.tag.or(.listen)
            if target.purpose == .limboResolution { tag = tag.because(.limbo) }
            if bill.isOpening, target.openingPurpose != nil { tag = tag.because(.requery) }
            let isUnsure: Bool
            if case .query(let query) = target.kind {
                isUnsure = bill.isOpening && query.hasSeveralRangeFields
            } else {
                isUnsure = false
            }
            record(
                ReadCount(reads: bill.reads, lowerBounds: isUnsure ? 1 : 0), tag, at: bill.time)
        }
    }

    private func record(_ count: ReadCount, _ tag: ReadTag, at time: Timestamp?) {
        let day = BillingDay(time.map { $0 > .epoch ? $0 : serverNow } ?? serverNow)
        loadReads(of: day)
        let name = local.book.ledger.add(
            ReadRow.Name(
                day: day, label: name(of: tag), screen: tag.screen ?? "", cause: tag.cause ?? .get),
            count)
        if !readObservers.isEmpty { tellReads(.billed(ReadRow(name, count))) }
        let elapsed = environment.scheduler.elapsed
        local.book.savesReads =
            local.book.ledger.savedAt.map { elapsed - $0 >= Self.shortestPauseOfSaving } ?? true
        if !isScheduled(.meterSave) { schedule(.meterSave, after: Self.longestPauseOfSaving) }
        for budget in budgets.newlySpent(on: day, spent: { spent($0, on: day) }) {
            tellReads(.budgetSpent(budget, on: day))
        }
    }

    func name(of tag: ReadTag) -> String { tag.label ?? configuration.label ?? "" }

    func tellReads(_ event: ReadEvent) {
        for id in readObservers.keys.sorted() { readObservers[id]?(event) }
    }

    /// Where the disk cannot be read, the day counts as begun: a budget is not worth a failure.
    private func loadReads(of day: BillingDay) {
        if local.book.ledger.knows(day) { return }
        local.book.ledger.load((try? local.storedReads(of: day)) ?? [], of: day)
    }

    func saveReads() {
        guard !local.book.ledger.unsaved.isEmpty else { return }
        local.book.savesReads = true
        // What cannot be stored now is stored later: it stays counted.
        do { try local.write(.saveReads) { _ in } } catch {
            schedule(.meterSave, after: Self.longestPauseOfSaving)
        }
    }

    func readReport(days: Int) throws -> ReadReport {
        let first = BillingDay(serverNow).advanced(by: 1 - max(1, days))
        return try local.readReport(since: first)
    }

    // MARK: Budgets

    private func spent(_ scope: ReadBudget.Scope, on day: BillingDay) -> Int {
        local.book.ledger.reads(on: day) { scope.contains(label: $0.label, screen: $0.screen) }
    }

    /// What the budgets say to a read that is about to be asked for.
    func verdict(on tag: ReadTag) -> BudgetGate.Verdict {
        if budgets.budgets.isEmpty { return .allowed }
        let day = BillingDay(serverNow)
        loadReads(of: day)
        return budgets.verdict(label: name(of: tag), screen: tag.screen ?? "") {
            spent($0, on: day)
        }
    }

    func setBudgets(_ new: [ReadBudget]) {
        budgets.budgets = new
        releaseHeldBack()
        enforceBudgets()
    }

    /// After reads were billed to listeners: those that have used up theirs are held back.
    func enforceBudgets() {
        if budgets.budgets.allSatisfy({ $0.action == .warn }) { return }
        for id in remoteTargets.keys.sorted() {
            guard let target = remoteTargets[id], target.purpose == .listen else { continue }
            switch verdict(on: target.tag) {
            case .allowed: break
            case .degraded(let budget): hold(id, .budget(budget))
            case .refused(let budget):
                for key in queriesByTarget[id] ?? [] where queries[key]?.isRemote == true {
                    fail(key, .overBudget(budget))
                }
            }
        }
    }
}
