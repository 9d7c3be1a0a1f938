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
        guard world.server.isUp, !evidence.isEmpty || !liveEvidence.isEmpty else { return }
        let (syncs, live) = (evidence, liveEvidence)
        (evidence, liveEvidence) = ([], [])
        let now = try truth(at: nil)
        for one in syncs { try check(one, now) }
        for one in live { try check(one, now) }
    }

    private func check(_ evidence: LiveEvidence, _ now: HistoryTruth) throws {
        guard
            let comparison = try compare(
                evidence.shown, at: evidence.readTime, evidence.pending, now,
                "\(evidence.device.name)'s feed listens, is fresh, and", .feedLive)
        else { return }
        figures.live += 1
        figures.liveItems += comparison.compared
    }

    /// What was shown with a full read at the time as of which it is said to be complete.
    ///
    /// - Returns: Nil where the server does not remember, or the process was gone before it told.
    private func compare(
        _ shown: HistoryShown, at readTime: Timestamp, _ pending: Set<DocumentPath>?,
        _ now: HistoryTruth, _ name: String, _ kind: WorldCheck
    ) throws -> HistoryComparison? {
        guard let pending, let then = try? truth(at: readTime) else { return nil }
        let unsettled = Set(
            then.all.keys.filter { then.all[$0]?.updateTime != now.all[$0]?.updateTime }
                + now.all.keys.filter { then.all[$0] == nil })
        let comparison = HistoryComparison(
            shown, then, unsettled.union(pending), readTime,
            HistoryPromise(
                way: kind == .feedLive ? mood.way.whileListening : mood.way, writes: writes,
                now: now))
        if let difference = comparison.difference {
            throw WorldViolation(
                kind, "\(name) \(difference); complete as of \(readTime.worldText)")
        }
        if unsettled.isEmpty, pending.isEmpty {
            if kind == .feedSyncs { figures.whole += 1 }
            // Those below the window may still be being counted while a feed listens.
            if kind == .feedSyncs || !shown.hasMore { try checkUnread(shown, comparison, name) }
        }
        return comparison
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
            evidence.shown.marks.action.map({ $0 < mark }) ?? true
        {
            throw WorldViolation(
                .feedMarks,
                "\(name) was cleared at \(mark) by another device, and has "
                    + "\(evidence.shown.marks.action.map { "\($0)" } ?? "no mark")")
        }
        guard let readTime = evidence.result.readTime else {
            throw WorldViolation(.feedSyncs, "\(name) was synced, and is not complete")
        }
        let comparison = try compare(
            evidence.shown, at: readTime, evidence.pending, now, name, .feedSyncs)
        figures.items += comparison?.compared ?? 0
    }

    private func checkUnread(
        _ shown: HistoryShown, _ comparison: HistoryComparison, _ name: String
    ) throws {
        // Below the window there may be more, or less, than was compared.
        let isSeen =
            switch mood.way {
            case .changeTime: !shown.hasMore || writes.vanished.isEmpty
            case .countedChangeTime, .versionAudit: true
            case .countAudit, .itemTime: !shown.hasMore
            }
        guard comparison.isExact, isSeen else { return }
        let floor = shown.marks.floor
        let unread = comparison.expected.values.count { row in floor.map { row.time > $0 } ?? true }
        if shown.unread == unread { return }
        throw WorldViolation(.feedUnread, "\(name) tells \(shown.unread) unread, not \(unread)")
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
                .feedBill,
                "\(name) counted \(evidence.result.reads) reads, the server billed \(billed)")
        }
        let text = plans.map { "\($0.kind) \($0.prediction)" }
        let most = plans.reduce(0) { sum, plan in
            plan.prediction.atMost.map { min(sum + $0, 1 << 40) } ?? 1 << 40
        }
        let least = plans.reduce(0) { $0 + $1.prediction.atLeast }
        guard billed <= most, billed >= least else {
            throw WorldViolation(.feedBill, "\(name) cost \(billed), the plans were \(text)")
        }
        let unchanged = plans.compactMap(\.prediction.ifUnchanged)
        guard let since = evidence.unwrittenSince, unchanged.count == plans.count,
            let readTime = evidence.result.readTime, isSame(at: since, and: readTime)
        else { return }
        let predicted = unchanged.reduce(0, +)
        guard abs(billed - predicted) <= 1 else {
            throw WorldViolation(
                .feedBill,
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
        _ feed: HistoryShown, _ then: HistoryTruth, _ unsettled: Set<DocumentPath>,
        _ readTime: Timestamp, _ promise: HistoryPromise
    ) {
        expected = then.items(above: feed.marks.action)
        if feed.hasMore, feed.rows.count != feed.size {
            difference = "shows \(feed.rows.count) of \(feed.size), and says there is more"
            return
        }
        let shown = Dictionary(uniqueKeysWithValues: feed.rows.map { ($0.path, $0) })
        let end = feed.hasMore ? feed.rows.last?.position : nil
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
        let lingering = feed.rows.filter { row in
            !row.hasPendingWrites && expected[row.path] == nil && !unsettled.contains(row.path)
                && row.content.updateTime <= readTime
        }.map(\.path)
        isExact = missing.isEmpty && stale.isEmpty && lingering.isEmpty
        if promise.cancels(missing: missing.count, lingering: lingering.count) { return }
        // What a count does not tell apart says nothing of a part of what is held.
        if promise.way == .countAudit, feed.hasMore || !unsettled.isEmpty { return }
        say("lacks", missing.filter { !promise.mayMiss($0) }, feed)
        say("shows an old", stale.filter { !promise.mayBeStale($0) }, feed)
        say("still shows", lingering.filter { !promise.mayLinger($0) }, feed)
    }

    private mutating func say(
        _ what: String, _ paths: [DocumentPath], _ feed: HistoryShown
    ) {
        if paths.isEmpty || difference != nil { return }
        let there = expected.values.sorted { $0.position < $1.position }.map { $0.position.path.id }
        difference =
            "\(what) \(paths.map(\.id).sorted()): it shows \(feed.rows.map(\.path.id)), "
            + "there is \(there)"
    }
}
