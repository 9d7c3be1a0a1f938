import TidemarkModel

/// A target as the listen stream knows it.
struct RemoteTarget: Equatable, Sendable {
    let id: Int32
    let kind: ListenTarget.Kind
    var purpose: ListenPurpose
    /// The newest token, in memory.
    var resumeToken: [UInt8] = []
    /// The time at which the rows here were the whole result, if there is no token.
    var readTime: Timestamp?
    /// The id of the target's listen on the open stream.
    var wireID: Int32?
    /// The tag under which reads are counted.
    var tag: ReadTag
    /// The purpose of the open listen, if it differs from the target's purpose.
    var openingPurpose: ListenPurpose?

    /// The reads to reserve for the first answer.
    var mostReads: Int {
        switch kind {
        case .query(let query): query.mostReads
        case .documents(let paths): paths.count
        }
    }
}

/// The listen stream, its requested targets, and their cost.
///
/// The stream opens when there is a target, and reopens after a failure. Each consistent snapshot
/// is sent to the engine's loop.
final class ListenConnection {
    private let context: EngineContext
    private let storage: CacheStorage
    private let meter: BillingMeter
    private let reachability: Reachability
    /// Returns the rows of a target as of the last raised snapshot. ``RemoteListening`` sets it.
    var rowsOfTarget: (Int32) -> Set<DocumentPath> = { _ in [] }
    private var stream = ListenStream()
    private var call: (any RequestStream<ListenRequest>)?
    /// The number of the present stream. A late event of an old stream has another number.
    private var generation = 0
    private var aggregator: WatchAggregator
    /// The targets to listen to, by target id, including the targets in limbo.
    private var targets: [Int32: RemoteTarget] = [:]
    /// The next wire id. An id is never used twice, not even on another stream.
    private var nextWireID: Int32 = 1
    private var billing = ListenBilling()
    /// The reads that are reserved for first answers, by wire id.
    private var reservations: [Int32: BillingMeter.Reservation] = [:]
    private var endings = ListenEndings()
    /// True if the open stream has received a message.
    private var wasHeard = false
    /// True while an event of the stream is handled, for an assertion.
    private var isReceiving = false
    #if TIDEMARK_DEFECTS
        /// This exists only for a planted defect.
        private var removedWireIDs: [Int32: Int32] = [:]
    #endif

    init(
        _ context: EngineContext, storage: CacheStorage, meter: BillingMeter,
        reachability: Reachability
    ) {
        self.context = context
        self.storage = storage
        self.meter = meter
        self.reachability = reachability
        aggregator = WatchAggregator(database: context.database)
    }

    deinit { call?.cancel() }

    var isOpen: Bool { stream.isOpen }
    /// True if the open stream has a listen to the target.
    func isListening(to id: Int32) -> Bool { targets[id]?.wireID != nil }
    var targetIDs: [Int32] { targets.keys.sorted() }
    func target(_ id: Int32) -> RemoteTarget? { targets[id] }

    // MARK: The stream

    func startIfNeeded() {
        guard context.gate.mayConnect, !targets.isEmpty, !stream.isStarted else { return }
        step(.start(elapsed: context.elapsed, jitter: context.environment.random()))
        reachability.step(.streamStarting)
    }

    func stop() {
        assert(!isReceiving, "the listen stream is stopped while its event is handled")
        step(.stop)
    }

    /// Lets the next attempt start without a delay, because the server is reachable.
    func inhibitBackoff() { step(.inhibitBackoff) }

    func fired(_ timer: TimerID) {
        switch timer {
        case .listenBackoff: step(.backoffElapsed)
        case .listenIdle: step(.idleElapsed)
        case .listenHealthy: step(.healthyElapsed)
        default: preconditionFailure("\(timer) is not of the listen stream")
        }
    }

    private func step(_ event: StreamLifecycle.Event) {
        for effect in stream.step(.lifecycle(event)) {
            switch effect {
            case .open: open()
            case .close: close()
            case .schedule(let id, let delay): context.schedule(id, after: delay)
            case .cancel(let id): context.cancelTimer(id)
            case .failed: failed()
            }
        }
    }

    private func open() {
        generation += 1
        aggregator = WatchAggregator(database: context.database)
        call = context.environment.transport.listen(context.callContext()) {
            [weak context, generation] event in
            context?.receive(.listen(event, generation: generation))
        }
        for id in targetIDs { send(id) }
    }

    private func close() {
        generation += 1
        call?.cancel()
        call = nil
        forgetWireIDs()
    }

    private func failed() {
        generation += 1
        call = nil
        forgetWireIDs()
        guard context.gate.isNetworkEnabled, !targets.isEmpty else { return }
        reachability.step(.streamFailed)
        startIfNeeded()
    }

    private func forgetWireIDs() {
        releaseReservations(of: [])
        record(billing.endAll())
        noteEnding()
        aggregator = WatchAggregator(database: context.database)
        for id in Array(targets.keys) { targets[id]!.wireID = nil }
    }

    /// Notes the end of the listens. A listener that resumes from its last snapshot has been away
    /// since now, not since that snapshot.
    private func noteEnding() {
        // An attempt that reached no server ends no listen.
        guard wasHeard, meter.knowsServerTime else { return }
        wasHeard = false
        for id in targets.keys {
            guard let version = storage.local.targets[id]?.snapshotVersion, version > .epoch else {
                continue
            }
            endings.note(meter.serverNow, snapshot: version)
        }
    }

    // MARK: What comes

    func received(_ event: StreamEvent<ListenResponse>, _ generation: Int) {
        guard generation == self.generation, context.gate.isRunning else { return }
        isReceiving = true
        defer { isReceiving = false }
        switch event {
        case .message(let response):
            _ = stream.step(.received)
            reachability.heard()
            wasHeard = true
            count(response)
            take(response)
            if meter.stopsListeners { context.notify(.listenersBilled) }
        case .ended(let status): step(.ended(status))
        }
    }

    private func take(_ response: ListenResponse) {
        if case .targetChange(let change) = response, change.targetIDs.isEmpty,
            let time = change.readTime, time < storage.local.targets.lastVersion
        {
            // This snapshot is older than the shown rows; its documents stay for the next snapshot.
            return
        }
        #if TIDEMARK_DEFECTS
            if context.isPlanted(.existenceFilterIgnored), case .existenceFilter = response {
                return
            }
            if context.isPlanted(.removalRace) { confuseRemovals(response) }
        #endif
        let effects = aggregator.step(.received(response)) { rowsOfTarget($0) }
        for effect in effects {
            switch effect {
            case .raise(let event): context.notify(.snapshot(event))
            case .rejected(let id, let status): context.notify(.targetRejected(id, status))
            }
        }
    }

    #if TIDEMARK_DEFECTS
        /// Acts as if a target had the same id on every listen.
        private func confuseRemovals(_ response: ListenResponse) {
            guard case .targetChange(let change) = response, change.kind == .remove,
                change.cause == nil
            else { return }
            for old in change.targetIDs {
                guard let id = removedWireIDs.removeValue(forKey: old),
                    let wireID = targets[id]?.wireID
                else { continue }
                stepAggregator(.stoppedListening(wireID: wireID))
            }
        }
    #endif

    private func stepAggregator(_ event: WatchAggregator.Event) {
        _ = aggregator.step(event) { rowsOfTarget($0) }
    }

    // MARK: What it costs

    /// Counts the cost of a response before the response is applied.
    private func count(_ response: ListenResponse) {
        let bills = billing.receive(
            response, isRepeated: { aggregator.hasTold($0, of: $1) },
            rows: { wireID in
                guard let target = aggregator.targets[wireID] else { return 0 }
                return rowsOfTarget(target.targetID).count + target.balance
            })
        if case .targetChange(let change) = response, [.current, .remove].contains(change.kind) {
            releaseReservations(of: change.targetIDs)
        }
        if !bills.isEmpty { record(bills) }
    }

    /// - Parameter wireIDs: The listens whose first answers have ended; none for all.
    private func releaseReservations(of wireIDs: [Int32]) {
        for id in wireIDs.isEmpty ? Array(reservations.keys) : wireIDs {
            meter.release(reservations.removeValue(forKey: id))
        }
    }

    /// - Parameter bills: The bills; bills of targets that have ended are skipped.
    private func record(_ bills: [ListenBilling.Bill]) {
        for bill in bills {
            meter.heardServerTime(bill.time)
            guard let target = targets[bill.targetID] else { continue }
            var tag = target.tag.or(.listen)
            if target.purpose == .limboResolution { tag = tag.because(.limbo) }
            if bill.isOpening, target.openingPurpose != nil { tag = tag.because(.requery) }
            let isUnsure: Bool
            if case .query(let query) = target.kind {
                isUnsure = bill.isOpening && query.hasSeveralRangeFields
            } else {
                isUnsure = false
            }
            meter.record(
                ReadCount(reads: bill.reads, lowerBounds: isUnsure ? 1 : 0), tag, at: bill.time)
        }
    }

    private func billingStart(of target: RemoteTarget) -> ListenBilling.Start {
        if !target.resumeToken.isEmpty,
            let version = storage.local.targets[target.id]?.snapshotVersion
        {
            return .resumed(endings.end(of: version))
        }
        return target.readTime.map { .resumed(endings.end(of: $0)) } ?? .scratch
    }

    // MARK: Targets

    /// Requests a target, now or when a stream opens. A target that was requested already does not
    /// change.
    func listen(_ target: RemoteTarget) {
        guard targets[target.id] == nil else { return }
        targets[target.id] = target
        if stream.isOpen { send(target.id) } else { startIfNeeded() }
    }

    func unlisten(_ id: Int32) {
        guard targets[id] != nil else { return }
        if stream.isOpen { sendRemoval(id) }
        targets[id] = nil
        guard targets.isEmpty else { return }
        step(stream.isOpen ? .idle : .stop)
    }

    /// Forgets a target that the server removed.
    func forget(_ id: Int32) { targets[id] = nil }

    /// Forgets all targets after another cache was opened; no stream is open then.
    func forgetAllTargets() { targets = [:] }

    /// Updates a target to its stored state, from which a later listen resumes.
    func update(_ id: Int32, _ stored: LocalTarget) {
        guard let index = targets.index(forKey: id) else { return }
        targets.values[index].resumeToken = stored.resumeToken
        targets.values[index].readTime = stored.knownVersion
    }

    /// Discards the token and the time of a target whose rows on this device are wrong.
    ///
    /// - Returns: True if the target was requested.
    func giveUpRows(of id: Int32) -> Bool {
        guard targets[id] != nil else { return false }
        targets[id]!.resumeToken = []
        targets[id]!.readTime = nil
        sendRemoval(id)
        return true
    }

    /// Requests a target from nothing, after the server has refused to resume and removed it.
    func beginAnew(_ id: Int32) {
        guard let wireID = targets[id]?.wireID else { return }
        record(billing.end(wireID))
        targets[id]!.wireID = nil
        targets[id]!.resumeToken = []
        targets[id]!.readTime = nil
        send(id)
    }

    /// - Parameter purpose: The purpose of this one request.
    func send(_ id: Int32, purpose: ListenPurpose? = nil) {
        guard let target = targets[id], stream.isOpen, let call else { return }
        let wireID = nextWireID
        nextWireID += 1
        targets[id]!.wireID = wireID
        targets[id]!.openingPurpose = purpose
        billing.begin(wireID, targetID: id, kind: target.kind, from: billingStart(of: target))
        reservations[wireID] = meter.reserve(target.mostReads, target.tag)
        let isFromScratch = target.resumeToken.isEmpty && target.readTime == nil
        stepAggregator(
            .listening(
                wireID: wireID, targetID: id, target.kind, isFromScratch: isFromScratch))
        for case .cancel(let timer) in stream.step(.lifecycle(.used)) {
            context.cancelTimer(timer)
        }
        var request = ListenTarget(id: wireID, target.kind)
        if !target.resumeToken.isEmpty {
            request.resume = .token(target.resumeToken)
        } else if let time = target.readTime {
            request.resume = .readTime(time)
        }
        if !isFromScratch {
            request.expectedCount = Int32(clamping: rowsOfTarget(id).count)
        }
        call.send(.add(request, labels: (purpose ?? target.purpose).labels))
    }

    private func sendRemoval(_ id: Int32) {
        guard let wireID = targets[id]?.wireID else { return }
        releaseReservations(of: [wireID])
        record(billing.end(wireID))
        targets[id]!.wireID = nil
        #if TIDEMARK_DEFECTS
            removedWireIDs[wireID] = id
        #endif
        stepAggregator(.stoppedListening(wireID: wireID))
        call?.send(.remove(targetID: wireID))
    }
}

extension LocalTarget {
    /// The time at which the rows here were the whole result; nil if unknown.
    var knownVersion: Timestamp? { snapshotVersion == .epoch ? nil : snapshotVersion }
}
