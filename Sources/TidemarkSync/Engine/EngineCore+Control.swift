import TidemarkModel

extension EngineCore {
    func setNetworkEnabled(_ enabled: Bool, _ completion: @escaping @Sendable () -> Void) {
        defer { completion() }
        guard state == .running, enabled != networkEnabled, !isReadOnly else { return }
        networkEnabled = enabled
        if enabled {
            guard mayConnect else { return }
            perform(online.step(.mayBeBack))
            startStreams()
        } else {
            stopStreams()
            perform(online.step(.disabled))
        }
    }

    /// The system says that the network changed, or the app came forward: nobody waits out a delay.
    func networkMayBeBack() {
        guard mayConnect, online.state != .online else { return }
        silentSince = nil
        nextProbe = .zero
        probeBackoff.reset()
        stopStreams()
        perform(online.step(.mayBeBack))
        startStreams()
    }

    func terminate(_ completion: @escaping @Sendable () -> Void) {
        guard state == .running else { return completion() }
        stopStreams()
        state = .terminated
        cancelAllTimers()
        endCalls(RPCStatus(.cancelled, "The client was terminated."), reads: .terminated)
        endSlicedReads(.terminated)
        endListeners()
        for id in writeObservers.keys.sorted() { writeObservers[id]?(.failed(.terminated)) }
        writeObservers = [:]
        storageObservers = [:]
        syncObservers = [:]
        readObservers = [:]
        queueObservers = [:]
        for parked in parkedUsers.values {
            for id in parked.observers.keys.sorted() { parked.observers[id]?(.failed(.terminated)) }
        }
        parkedUsers = [:]
        for change in userChanges { change.completion(.terminated) }
        userChanges = []
        for waiter in pendingWriteWaiters { waiter.completion(.terminated) }
        pendingWriteWaiters = []
        // Only newer tokens were to be written: without them the next listen reads a little more.
        do { try local.close() } catch {}
        completion()
    }

    /// Those that wait for an answer get none.
    func endCalls(_ status: RPCStatus, reads error: SyncError) {
        for id in reads.keys.sorted() { finish(id, .failure(error)) }
        var ended = calls
        calls = [:]
        for id in ended.keys.sorted() {
            ended[id]!.timer?.cancel()
            ended[id]!.handle?.cancel()
            ended[id]!.replies = []
            ended[id]!.end(status)
        }
    }

    private func endListeners() {
        let all = queries.values.sorted { $0.order < $1.order }
        queries = [:]
        queriesByTarget = [:]
        for query in all {
            for listener in query.listeners { listener.observer(.failure(.terminated)) }
        }
        endOpenings(.terminated)
    }

    // MARK: Records

    func record(
        _ key: String, _ completion: @escaping @Sendable (Result<[UInt8]?, SyncError>) -> Void
    ) {
        if let refusal { return completion(.failure(refusal)) }
        do { completion(.success(try local.records.value(forKey: key))) } catch {
            completion(.failure(SyncError(storing: error)))
        }
    }

    func setRecord(
        _ value: [UInt8]?, _ key: String, keeping kept: Query? = nil,
        _ completion: @escaping @Sendable (SyncError?) -> Void
    ) {
        if let refusal = writeRefusal { return completion(refusal) }
        do {
            try local.records.set(value, forKey: key, keeping: kept)
            completion(nil)
        } catch { completion(SyncError(storing: error)) }
    }
}
