import TidemarkApp
import TidemarkModel
import TidemarkServer
import TidemarkSync

/// Compares the rows that devices showed with the data that the server held.
final class HistoryOracle {
    /// The results of syncs that are not compared yet.
    private var evidence: [SyncEvidence] = []
    /// The fresh results of listening feeds that are not compared yet.
    private var liveEvidence: [LiveEvidence] = []
    unowned let history: FeedHistory

    init(in history: FeedHistory) { self.history = history }

    func synced(
        _ outcome: HistoryFeed.Machine.Outcome, feed: HistoryFeed, begin: SyncBegin,
        device: HistoryDevice
    ) {
        guard case .synced(let result) = outcome else {
            return history.note("\(device.name) could not sync: \(outcome)")
        }
        let evidence = SyncEvidence(result, feed: feed, begin: begin, device: device)
        history.note(
            "\(device.name) synced for \(result.reads), shows "
                + "\(evidence.shown.rows.map { "\($0.path.id) \($0.content.number)" })"
                + (evidence.shown.hasMore ? " and more" : ""))
        history.figures.syncs += 1
        // A sync may or may not include writes made while it was in progress.
        device.syncedAt = begin.isJoined ? nil : (begin.writes, begin.now, feed.process)
        self.evidence.append(evidence)
        askPending(device, feed.process) { evidence.pending = $0 }
    }

    /// Records a listening feed's claim to be complete as of a time.
    func saw(_ feed: HistoryFeed, freshAsOf readTime: Timestamp, _ device: HistoryDevice) {
        let evidence = LiveEvidence(feed, readTime: readTime, device: device)
        if let last = device.lastLive, last.readTime == readTime, last.shown == evidence.shown {
            return
        }
        device.lastLive = evidence
        liveEvidence.append(evidence)
        askPending(device, feed.process) { evidence.pending = $0 }
    }

    /// - Parameter then: Called with the paths. Never called if the process ends first.
    func askPending(
        _ device: HistoryDevice, _ process: WorldProcess,
        then: @escaping (Set<DocumentPath>) -> Void
    ) {
        let sink = WorldBox { then }
        device.client.engine?.pendingWrites { result in
            guard process.isAlive, case .success(let writes) = result else { return }
            sink.value()(Set(writes.flatMap(\.mutations).map(\.path)))
        }
    }

    /// Returns the reads that the server has billed to a device, except listens.
    func reads(of device: HistoryDevice) -> Int {
        history.world.server.meter(by: [.label, .method])
            .filter { $0.label == device.name && $0.method != "Listen" }
            .reduce(0) { $0 + $1.reads }
    }

    func sharedMark() -> Timestamp? {
        guard history.world.server.isUp,
            case .success(let document?) = history.world.server.document(
                at: FeedHistory.shared, in: World.database)
        else { return nil }
        switch document.fields["at"] {
        case .double(let milliseconds)?:
            return Timestamp(microseconds: Int64((milliseconds * 1_000).rounded()))
        case .integer(let milliseconds)?: return Timestamp(milliseconds: milliseconds)
        case .string(let text)?:
            // The text has whole milliseconds: the mark covers all of its microseconds.
            return Int64(text).map { Timestamp(microseconds: $0 * 1_000 + 999) }
        default: return nil
        }
    }

    /// Returns the fault in the order of the rows, or nil if there is none.
    func fault(of positions: [PagePosition]) -> String? {
        if Set(positions.map(\.path)).count != positions.count {
            return "something twice: \(positions.map(\.path.id))"
        }
        for (upper, lower) in zip(positions, positions.dropFirst()) where !(upper < lower) {
            return "\(upper.path.id) above \(lower.path.id)"
        }
        return nil
    }

    /// Compares the recorded results. While the server is down, they wait.
    func checkEvidence() throws {
        guard history.world.server.isUp, !evidence.isEmpty || !liveEvidence.isEmpty else { return }
        let (syncs, live) = (evidence, liveEvidence)
        (evidence, liveEvidence) = ([], [])
        let now = try truth(at: nil)
        for one in syncs { try check(one, now) }
        for one in live { try check(one, now) }
    }

    private func check(_ evidence: LiveEvidence, _ now: HistoryTruth) throws {
        guard
            let comparison = try compare(
                evidence.shown, at: evidence.readTime, pending: evidence.pending, now: now,
                name: "\(evidence.device.name)'s feed listens, is fresh, and", kind: .feedLive)
        else { return }
        history.figures.live += 1
        history.figures.liveItems += comparison.compared
        if comparison.isExcused { history.figures.excused += 1 }
    }

    /// Compares rows with a full read at their read time.
    ///
    /// - Returns: The comparison; nil if the server no longer has that version, or if the process
    ///   ended before it reported its pending writes.
    private func compare(
        _ shown: HistoryShown, at readTime: Timestamp, pending: Set<DocumentPath>?,
        now: HistoryTruth, name: String, kind: WorldCheck
    ) throws -> HistoryComparison? {
        guard let pending, let then = try? truth(at: readTime) else { return nil }
        let unsettled = Set(
            then.all.keys.filter { then.all[$0]?.updateTime != now.all[$0]?.updateTime }
                + now.all.keys.filter { then.all[$0] == nil })
        let comparison = HistoryComparison(
            shown, then: then, unsettled: unsettled.union(pending), readTime: readTime,
            promise: HistoryPromise(
                way: kind == .feedLive
                    ? history.parameters.way.whileListening : history.parameters.way,
                writes: history.writes,
                now: now), isSync: kind == .feedSyncs)
        if let difference = comparison.difference {
            throw WorldViolation(
                kind, "\(name) \(difference); complete as of \(readTime.worldText)")
        }
        if unsettled.isEmpty, pending.isEmpty {
            if kind == .feedSyncs { history.figures.whole += 1 }
            // While a feed listens, the items below the window may not be counted yet.
            if kind == .feedSyncs || !shown.hasMore {
                try checkUnread(shown, comparison: comparison, name: name)
            }
        }
        return comparison
    }

    /// Returns true if the server held the same data at both times, as far as it still knows.
    private func isSame(at time: Timestamp, and other: Timestamp) -> Bool {
        guard let before = try? truth(at: time), let after = try? truth(at: other) else {
            return false
        }
        return before.all.mapValues(\.updateTime) == after.all.mapValues(\.updateTime)
    }

    func truth(at time: Timestamp?) throws -> HistoryTruth {
        switch history.world.server.documents(
            Query(collectionID: FeedHistory.items), at: time, in: World.database)
        {
        case .success(let documents): return HistoryTruth(documents, history.parameters)
        case .failure(let status): throw status
        }
    }

    private func check(_ evidence: SyncEvidence, _ now: HistoryTruth) throws {
        let name = "\(evidence.device.name)'s feed"
        try checkBill(evidence)
        // A string mark has no maximum operation. A device whose own mark is being written sees it
        // until the device with the later clear writes its mark again (Decisions/0042).
        let seesItsOwn =
            HistoryDevice.marksAreTexts(history)
            && (evidence.hasCleared
                || evidence.begin.ownWrites.paths?.contains(FeedHistory.shared) ?? true)
        // A mark later than the server's time is read as the server's time.
        if !evidence.begin.isJoined, !seesItsOwn,
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
            evidence.shown, at: readTime, pending: evidence.pending, now: now, name: name,
            kind: .feedSyncs)
        history.figures.items += comparison?.compared ?? 0
    }

    private func checkUnread(
        _ shown: HistoryShown, comparison: HistoryComparison, name: String
    ) throws {
        // Below the window, the feed may hold more or less than was compared.
        let isSeen =
            switch history.parameters.way {
            case .changeTime: !shown.hasMore || history.writes.vanished.isEmpty
            case .countedChangeTime, .versionAudit: true
            case .countAudit, .itemTime: !shown.hasMore
            }
        guard comparison.isExact, isSeen else { return }
        let floor = shown.marks.floor
        // The feed cannot count items below the range that it holds.
        let held = comparison.expected.values.filter { $0.position.isAtLeast(shown.base) }
        let unread = held.count { row in floor.map { row.time > $0 } ?? true }
        if shown.unread == unread { return }
        throw WorldViolation(.feedUnread, "\(name) tells \(shown.unread) unread, not \(unread)")
    }

    // MARK: What it cost

    /// Compares the bill with the plan, unless a fault can have caused billed reads outside the
    /// plan.
    private func checkBill(_ evidence: SyncEvidence) throws {
        // The device's bill also includes the reads of a backfill and of a user beside it.
        guard !history.settings.hasBackfills, !evidence.begin.isShared,
            evidence.begin.server != nil,
            evidence.begin.server == history.world.server.run,
            evidence.begin.time - history.driver.lastTrouble > .seconds(60)
                || history.driver.lastTrouble == .zero,
            history.world.network.weather == .calm
        else { return }
        history.figures.billed += 1
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
