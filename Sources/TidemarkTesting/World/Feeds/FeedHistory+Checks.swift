import TidemarkApp
import TidemarkModel
import TidemarkSync

// The oracle: what was shown, against what the server held.

extension FeedHistory {
    /// What is wrong with an order of rows by itself; nil when nothing is.
    func fault(of positions: [PagePosition]) -> String? {
        if Set(positions.map(\.path)).count != positions.count {
            return "something twice: \(positions.map(\.path.id))"
        }
        for (upper, lower) in zip(positions, positions.dropFirst()) where !(upper < lower) {
            return "\(upper.path.id) above \(lower.path.id)"
        }
        return nil
    }

    /// While the server is down, what was shown waits.
    func checkEvidence() throws {
        guard world.server.isUp, !evidence.isEmpty else { return }
        let all = evidence
        evidence = []
        let now = try truth(at: nil)
        for one in all { try check(one, now) }
    }

    /// Whether the server held the same at both times, as far as it still knows.
    private func isSame(at time: Timestamp, and other: Timestamp) -> Bool {
        guard let before = try? truth(at: time), let after = try? truth(at: other) else {
            return false
        }
        return before.all.mapValues(\.updateTime) == after.all.mapValues(\.updateTime)
    }

    func truth(at time: Timestamp?) throws -> HistoryTruth {
        switch world.server.documents(
            Query(collectionID: Self.items), at: time, in: World.database)
        {
        case .success(let documents): return HistoryTruth(documents, mood)
        case .failure(let status): throw status
        }
    }

    private func check(_ evidence: SyncEvidence, _ now: HistoryTruth) throws {
        let name = "\(evidence.device.name)'s feed"
        try checkBill(evidence)
        // One that is ahead of the server's time counts as far as that, when it is read.
        if !evidence.begin.isJoined,
            let mark = evidence.begin.shared.map({ min($0, evidence.begin.now) }),
            evidence.marks.action.map({ $0 < mark }) ?? true
        {
            throw WorldViolation(
                "\(name) was cleared at \(mark) by another device, and has "
                    + "\(evidence.marks.action.map { "\($0)" } ?? "no mark")")
        }
        guard let readTime = evidence.result.readTime else {
            throw WorldViolation("\(name) was synced, and is not complete")
        }
        // Older than the server remembers, or gone before it told: nobody can tell.
        guard let pending = evidence.pending, let then = try? truth(at: readTime) else { return }
        let unsettled = Set(
            then.all.keys.filter { then.all[$0]?.updateTime != now.all[$0]?.updateTime }
                + now.all.keys.filter { then.all[$0] == nil })
        let comparison = HistoryComparison(
            evidence, then, unsettled.union(pending), readTime,
            HistoryPromise(way: mood.way, writes: writes, now: now))
        figures.items += comparison.compared
        if let difference = comparison.difference {
            throw WorldViolation("\(name) \(difference); complete as of \(readTime.worldText)")
        }
        if unsettled.isEmpty, pending.isEmpty {
            figures.whole += 1
            try checkUnread(evidence, comparison, name)
        }
    }

    private func checkUnread(
        _ evidence: SyncEvidence, _ comparison: HistoryComparison, _ name: String
    ) throws {
        // Below the window there may be more, or less, than was compared.
        let isSeen =
            switch mood.way {
            case .changeTime: !evidence.hasMore || writes.vanished.isEmpty
            case .countedChangeTime, .versionAudit: true
            case .countAudit, .itemTime: !evidence.hasMore
            }
        guard comparison.isExact, isSeen else { return }
        let floor = evidence.marks.floor
        let unread = comparison.expected.values.count { row in floor.map { row.time > $0 } ?? true }
        if evidence.unread == unread { return }
        throw WorldViolation("\(name) tells \(evidence.unread) unread, not \(unread)")
    }

    // MARK: What it cost

    /// Only where nothing broke that is billed and not told.
    private func checkBill(_ evidence: SyncEvidence) throws {
        // A backfill's reads, and a person's beside it, are the device's too.
        guard !settings.hasBackfills, !evidence.begin.isShared, evidence.begin.server != nil,
            evidence.begin.server == world.server.run,
            evidence.begin.time - lastTrouble > .seconds(60) || lastTrouble == .zero,
            world.network.weather == .calm
        else { return }
        figures.billed += 1
        let billed = evidence.reads - evidence.begin.reads
        let plans = evidence.result.plans
        let name = "\(evidence.device.name)'s feed"
        guard billed == evidence.result.reads else {
            throw WorldViolation(
                "\(name) counted \(evidence.result.reads) reads, the server billed \(billed)")
        }
        let text = plans.map { "\($0.kind) \($0.prediction)" }
        let most = plans.reduce(0) { sum, plan in
            plan.prediction.atMost.map { min(sum + $0, 1 << 40) } ?? 1 << 40
        }
        let least = plans.reduce(0) { $0 + $1.prediction.atLeast }
        guard billed <= most, billed >= least else {
            throw WorldViolation("\(name) cost \(billed), the plans were \(text)")
        }
        let unchanged = plans.compactMap(\.prediction.ifUnchanged)
        guard let since = evidence.unwrittenSince, unchanged.count == plans.count,
            let readTime = evidence.result.readTime, isSame(at: since, and: readTime)
        else { return }
        let predicted = unchanged.reduce(0, +)
        guard abs(billed - predicted) <= 1 else {
            throw WorldViolation(
                "\(name) cost \(billed) though nothing had changed, the plans were \(text)")
        }
    }
}

/// What a feed showed beside what was there.
struct HistoryComparison {
    let expected: [DocumentPath: HistoryTruth.Row]
    private(set) var compared = 0
    private(set) var difference: String?
    /// Whether it showed exactly what was there, also where it need not.
    private(set) var isExact = false

    /// - Parameter unsettled: What changed since, or is being written by the device itself.
    init(
        _ evidence: SyncEvidence, _ then: HistoryTruth, _ unsettled: Set<DocumentPath>,
        _ readTime: Timestamp, _ promise: HistoryPromise
    ) {
        expected = then.items(above: evidence.marks.action)
        if evidence.hasMore, evidence.rows.count != evidence.size {
            difference = "shows \(evidence.rows.count) of \(evidence.size), and says there is more"
            return
        }
        let shown = Dictionary(uniqueKeysWithValues: evidence.rows.map { ($0.path, $0) })
        let end = evidence.hasMore ? evidence.rows.last?.position : nil
        var missing: [DocumentPath] = []
        var stale: [DocumentPath] = []
        for (path, row) in expected where !unsettled.contains(path) {
            compared += 1
            guard let its = shown[path] else {
                if end.map({ !($0 < row.position) }) ?? true { missing.append(path) }
                continue
            }
            if its.content.number != row.number || its.position != row.position {
                stale.append(path)
            }
        }
        let lingering = evidence.rows.filter { row in
            !row.hasPendingWrites && expected[row.path] == nil && !unsettled.contains(row.path)
                && row.content.updateTime <= readTime
        }.map(\.path)
        isExact = missing.isEmpty && stale.isEmpty && lingering.isEmpty
        if promise.cancels(missing: missing.count, lingering: lingering.count) { return }
        // What a count does not tell apart says nothing of a part of what is held.
        if promise.way == .countAudit, evidence.hasMore || !unsettled.isEmpty { return }
        say("lacks", missing.filter { !promise.mayMiss($0) }, evidence)
        say("shows an old", stale.filter { !promise.mayBeStale($0) }, evidence)
        say("still shows", lingering.filter { !promise.mayLinger($0) }, evidence)
    }

    private mutating func say(
        _ what: String, _ paths: [DocumentPath], _ evidence: SyncEvidence
    ) {
        if paths.isEmpty || difference != nil { return }
        let there = expected.values.sorted { $0.position < $1.position }.map { $0.position.path.id }
        difference =
            "\(what) \(paths.map(\.id).sorted()): it shows \(evidence.rows.map(\.path.id)), "
            + "there is \(there)"
    }
}
