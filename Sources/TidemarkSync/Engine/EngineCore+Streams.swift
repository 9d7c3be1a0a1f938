import TidemarkModel

// The listen stream and what is asked on it.

extension EngineCore {
    func performListen(_ event: StreamLifecycle.Event) {
        for effect in listenStream.step(.lifecycle(event)) {
            switch effect {
            case .open: openListenStream()
            case .close: closeListenStream()
            case .schedule(let id, let delay): schedule(id, after: delay)
            case .cancel(let id): cancelTimer(id)
            case .failed(let status): listenStreamFailed(status)
            }
        }
    }

    func startListenStreamIfNeeded() {
        guard mayConnect, !remoteTargets.isEmpty, !listenStream.isStarted
        else { return }
        performListen(
            .start(elapsed: environment.scheduler.elapsed, jitter: environment.random()))
        perform(online.step(.streamStarting))
    }

    private func openListenStream() {
        listenGeneration += 1
        let generation = listenGeneration
        let scheduler = environment.scheduler
        aggregator = WatchAggregator(database: database)
        listenCall = environment.transport.listen(context()) { [weak self] event in
            scheduler.enqueue { [weak self] in self?.received(event, generation) }
        }
        for id in remoteTargets.keys.sorted() { sendListen(id) }
    }

    private func closeListenStream() {
        listenGeneration += 1
        listenCall?.cancel()
        listenCall = nil
        forgetWireIDs()
    }

    private func forgetWireIDs() {
        record(listenBilling.endAll())
        noteEnding()
        aggregator = WatchAggregator(database: database)
        for id in Array(remoteTargets.keys) { remoteTargets[id]!.wireID = nil }
    }

    /// Who resumes from what it was told last has been away since now, and not since then.
    private func noteEnding() {
        // An attempt that reached nobody ends nothing.
        guard listenWasHeard, lastServerTime != nil else { return }
        listenWasHeard = false
        for id in remoteTargets.keys {
            guard let version = local.targets[id]?.snapshotVersion, version > .epoch else {
                continue
            }
            listenEndings.note(serverNow, snapshot: version)
        }
    }

    private func listenStreamFailed(_ status: RPCStatus) {
        listenGeneration += 1
        listenCall = nil
        forgetWireIDs()
        guard networkEnabled, !remoteTargets.isEmpty else { return }
        perform(online.step(.streamFailed))
        startListenStreamIfNeeded()
    }

    private func received(_ event: StreamEvent<ListenResponse>, _ generation: Int) {
        guard generation == listenGeneration, state == .running else { return }
        switch event {
        case .message(let response):
            _ = listenStream.step(.received)
            heard()
            listenWasHeard = true
            count(response)
            received(response)
            enforceBudgets()
        case .ended(let status): performListen(.ended(status))
        }
    }

    /// Before it is acted upon, what it costs.
    private func count(_ response: ListenResponse) {
        let bills = listenBilling.receive(
            response, isRepeated: { aggregator.hasTold($0, of: $1) },
            rows: { wireID in
                guard let target = aggregator.targets[wireID] else { return 0 }
                return remoteKeys(target.targetID).count + target.balance
            })
        if !bills.isEmpty { record(bills) }
    }

    /// Something came from the server.
    func heard() {
        silentSince = nil
        perform(online.step(.heard))
    }

    // MARK: Targets

    /// - Parameter purpose: For this one request.
    func sendListen(_ id: Int32, purpose: ListenPurpose? = nil) {
        guard let target = remoteTargets[id], listenStream.isOpen, let listenCall else { return }
        let wireID = nextWireID
        nextWireID += 1
        remoteTargets[id]!.wireID = wireID
        remoteTargets[id]!.openingPurpose = purpose
        listenBilling.begin(wireID, id, target.kind, from: billingStart(of: target))
        let isFromScratch = target.resumeToken.isEmpty && target.readTime == nil
        _ = aggregator.step(
            .listening(
                wireID: wireID, targetID: id, target.kind, isFromScratch: isFromScratch),
            remoteKeys: remoteKeys)
        _ = listenStream.step(.lifecycle(.used)).map { effect in
            if case .cancel(let timer) = effect { cancelTimer(timer) }
        }
        var request = ListenTarget(id: wireID, target.kind)
        if !target.resumeToken.isEmpty {
            request.resume = .token(target.resumeToken)
        } else if let time = target.readTime {
            request.resume = .readTime(time)
        }
        if !isFromScratch {
            request.expectedCount = Int32(clamping: remoteKeys(id).count)
        }
        listenCall.send(.add(request, labels: (purpose ?? target.purpose).labels))
    }

    private func billingStart(of target: RemoteTarget) -> ListenBilling.Start {
        if !target.resumeToken.isEmpty, let version = local.targets[target.id]?.snapshotVersion {
            return .resumed(listenEndings.end(of: version))
        }
        return target.readTime.map { .resumed(listenEndings.end(of: $0)) } ?? .scratch
    }

    func sendUnlisten(_ id: Int32) {
        guard let wireID = remoteTargets[id]?.wireID else { return }
        record(listenBilling.end(wireID))
        remoteTargets[id]!.wireID = nil
        #if TIDEMARK_DEFECTS
            removedWireIDs[wireID] = id
        #endif
        _ = aggregator.step(.stoppedListening(wireID: wireID), remoteKeys: remoteKeys)
        listenCall?.send(.remove(targetID: wireID))
    }

    func listenRemotely(_ target: RemoteTarget) {
        guard remoteTargets[target.id] == nil else { return }
        remoteTargets[target.id] = target
        if listenStream.isOpen { sendListen(target.id) } else { startListenStreamIfNeeded() }
    }

    func unlistenRemotely(_ id: Int32) {
        guard remoteTargets[id] != nil else { return }
        if listenStream.isOpen { sendUnlisten(id) }
        remoteTargets[id] = nil
        guard remoteTargets.isEmpty else { return }
        if listenStream.isOpen {
            performListen(.idle)
        } else {
            performListen(.stop)
        }
    }

    /// The rows of a target as of the last snapshot that was raised.
    func remoteKeys(_ id: Int32) -> Set<DocumentPath> {
        if let keys = limbo.remoteKeys(of: id) { return keys }
        // Asked for each document of a stream: a copy of the view took a tenth of taking it in.
        for key in queriesByTarget[id] ?? [] {
            if let keys = queries[key]?.view.synced { return keys }
        }
        return []
    }
}
