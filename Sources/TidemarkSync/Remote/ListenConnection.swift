import TidemarkModel

/// A target as the listen stream knows it.
struct RemoteTarget: Equatable, Sendable {
    let id: Int32
    let kind: ListenTarget.Kind
    var purpose: ListenPurpose
    /// The newest, in memory.
    var resumeToken: [UInt8] = []
    /// Where there is no token: as of when the rows here are the whole result.
    var readTime: Timestamp?
    /// Of its listen on the stream that is open.
    var wireID: Int32?
    /// Whom it is counted for.
    var tag: ReadTag
    /// Of the listen that is open, when that has another one than the target.
    var openingPurpose: ListenPurpose?
}

/// The listen stream, the targets that are asked for on it, and what they cost.
///
/// Opens the stream when there is a target, and again after it broke. Each consistent snapshot goes to the
/// engine's loop.
final class ListenConnection {
    private let context: EngineContext
    private let storage: CacheStorage
    private let meter: BillingMeter
    private let reachability: Reachability
    private var stream = ListenStream()
    private var call: (any RequestStream<ListenRequest>)?
    /// Counts the streams, so that a late event of an old one is known as such.
    private var generation = 0
    private var aggregator: WatchAggregator
    /// What is to be listened to, by target id, those in limbo too.
    private var targets: [Int32: RemoteTarget] = [:]
    /// The next one to use; never used twice, not even on another stream.
    private var nextWireID: Int32 = 1
    private var billing = ListenBilling()
    private var endings = ListenEndings()
    /// Whether the stream that is open has said anything.
    private var wasHeard = false
    #if TIDEMARK_DEFECTS
        /// For a planted defect only.
        private var removedWireIDs: [Int32: Int32] = [:]
    #endif

    init(
        _ context: EngineContext, _ storage: CacheStorage, _ meter: BillingMeter,
        _ reachability: Reachability
    ) {
        self.context = context
        self.storage = storage
        self.meter = meter
        self.reachability = reachability
        aggregator = WatchAggregator(database: context.database)
    }

    deinit { call?.cancel() }

    var isOpen: Bool { stream.isOpen }
    var targetIDs: [Int32] { targets.keys.sorted() }
    func target(_ id: Int32) -> RemoteTarget? { targets[id] }

    // MARK: The stream

    func startIfNeeded() {
        guard context.gate.mayConnect, !targets.isEmpty, !stream.isStarted else { return }
        step(.start(elapsed: context.elapsed, jitter: context.environment.random()))
        reachability.step(.streamStarting)
    }

    func stop() { step(.stop) }

    /// The next attempt shall not wait: the server is there.
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
        let scheduler = context.environment.scheduler
        aggregator = WatchAggregator(database: context.database)
        call = context.environment.transport.listen(context.callContext()) {
            [weak engine = context.engine, generation] event in
            scheduler.enqueue { [weak engine] in engine?.received(event, generation) }
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
        record(billing.endAll())
        noteEnding()
        aggregator = WatchAggregator(database: context.database)
        for id in Array(targets.keys) { targets[id]!.wireID = nil }
    }

    /// Who resumes from what it was told last has been away since now, and not since then.
    private func noteEnding() {
        // An attempt that reached nobody ends nothing.
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
        switch event {
        case .message(let response):
            _ = stream.step(.received)
            reachability.heard()
            wasHeard = true
            let engine = context.engine
            count(response, engine)
            take(response, engine)
            if meter.stopsListeners { engine.handle(.listenersBilled) }
        case .ended(let status): step(.ended(status))
        }
    }

    private func take(_ response: ListenResponse, _ engine: EngineCore) {
        if case .targetChange(let change) = response, change.targetIDs.isEmpty,
            let time = change.readTime, time < storage.local.targets.lastVersion
        {
            // Older than what is shown already; the documents stay for the next snapshot.
            return
        }
        #if TIDEMARK_DEFECTS
            if context.isPlanted(.existenceFilterIgnored), case .existenceFilter = response {
                return
            }
            if context.isPlanted(.removalRace) { confuseRemovals(response) }
        #endif
        let effects = aggregator.step(.received(response)) { engine.rows(of: $0) }
        for effect in effects {
            switch effect {
            case .raise(let event): engine.handle(.snapshot(event))
            case .rejected(let id, let status): engine.handle(.targetRejected(id, status))
            }
        }
    }

    #if TIDEMARK_DEFECTS
        /// As if a target had the same id on every listen.
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
        let engine = context.engine
        _ = aggregator.step(event) { engine.rows(of: $0) }
    }

    // MARK: What it costs

    /// Before it is acted upon, what it costs.
    private func count(_ response: ListenResponse, _ engine: EngineCore) {
        let bills = billing.receive(
            response, isRepeated: { aggregator.hasTold($0, of: $1) },
            rows: { wireID in
                guard let target = aggregator.targets[wireID] else { return 0 }
                return engine.rows(of: target.targetID).count + target.balance
            })
        if !bills.isEmpty { record(bills) }
    }

    /// - Parameter bills: Of targets that are there still.
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

    /// Asks for a target, now or as soon as there is a stream; one that is asked for stays as it is.
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

    /// The server has removed the target by itself.
    func forget(_ id: Int32) { targets[id] = nil }

    /// Another cache is in use, and no stream is open.
    func forgetAllTargets() { targets = [:] }

    /// What is stored of a target: from there another listen goes on.
    func update(_ id: Int32, _ stored: LocalTarget) {
        guard let index = targets.index(forKey: id) else { return }
        targets.values[index].resumeToken = stored.resumeToken
        targets.values[index].readTime = stored.knownVersion
    }

    /// The rows here are known to be wrong, and with them what they were known by.
    ///
    /// - Returns: Whether the target is asked for.
    func giveUpRows(of id: Int32) -> Bool {
        guard targets[id] != nil else { return false }
        targets[id]!.resumeToken = []
        targets[id]!.readTime = nil
        sendRemoval(id)
        return true
    }

    /// - Parameter purpose: For this one request.
    func send(_ id: Int32, purpose: ListenPurpose? = nil) {
        guard let target = targets[id], stream.isOpen, let call else { return }
        let wireID = nextWireID
        nextWireID += 1
        targets[id]!.wireID = wireID
        targets[id]!.openingPurpose = purpose
        billing.begin(wireID, id, target.kind, from: billingStart(of: target))
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
            request.expectedCount = Int32(clamping: context.engine.rows(of: id).count)
        }
        call.send(.add(request, labels: (purpose ?? target.purpose).labels))
    }

    private func sendRemoval(_ id: Int32) {
        guard let wireID = targets[id]?.wireID else { return }
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
    /// As of when its rows here are the whole result; nil when that is not known.
    var knownVersion: Timestamp? { snapshotVersion == .epoch ? nil : snapshotVersion }
}
