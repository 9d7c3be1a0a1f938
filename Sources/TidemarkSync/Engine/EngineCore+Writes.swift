import TidemarkModel

// The mutation queue's way to the server.

extension EngineCore {
    /// How many batches are under way at once. Source: `core/remote/remote_store.cc`.
    static let pipelineLimit = 10

    func write(
        _ mutations: [Mutation], inPlaceOf rejected: Int64? = nil,
        _ observer: @escaping @Sendable (SyncEngine.WriteEvent) -> Void
    ) {
        if let refusal = writeRefusal { return observer(.failed(refusal)) }
        guard !mutations.isEmpty else {
            return observer(.failed(.invalidArgument("A write without mutations.")))
        }
        guard local.queue.pending.batches.count < configuration.maxPendingWrites else {
            return observer(.failed(.queueFull(limit: configuration.maxPendingWrites)))
        }
        let batch: MutationBatch
        let changed: [LocalDocument]
        do {
            (batch, changed) = try local.queue.enqueue(
                mutations, at: environment.now(), inPlaceOf: rejected)
        } catch { return observer(.failed(SyncError(storing: error))) }
        writeObservers[batch.id] = observer
        observer(.journalled(batch: batch.id))
        tellQueueLater()
        #if TIDEMARK_DEFECTS
            if !isPlanted(.ownWriteHidden) { refreshViews(changed, nil) }
        #else
            refreshViews(changed, nil)
        #endif
        fillPipeline()
    }

    func fillPipeline() {
        guard state == .running, !storageIsBroken, userChanges.isEmpty else { return }
        if local.queue.pending.isEmpty { writesSingly = false }
        while pipeline.count < (writesSingly ? 1 : Self.pipelineLimit),
            let batch = local.queue.pending.batch(after: pipeline.last?.id ?? 0)
        {
            pipeline.append(batch)
            if writeStream.isOpen, writeStream.isReady {
                performWrite(event: .send(batch.mutations))
            }
        }
        if pipeline.isEmpty {
            performWrite(.idle)
        } else if mayConnect, !writeStream.isStarted {
            performWrite(
                .start(elapsed: environment.scheduler.elapsed, jitter: environment.random()))
        }
    }

    func performWrite(_ event: StreamLifecycle.Event) { performWrite(event: .lifecycle(event)) }

    func performWrite(event: WriteStream.Event) {
        for effect in writeStream.step(event) {
            switch effect {
            case .lifecycle(.open): openWriteStream()
            case .lifecycle(.close): closeWriteStream()
            case .lifecycle(.schedule(let id, let delay)): schedule(id, after: delay)
            case .lifecycle(.cancel(let id)): cancelTimer(id)
            case .lifecycle(.failed): preconditionFailure("the machine tells it another way")
            case .failed(let status, let wasReady): writeStreamFailed(status, wasReady)
            case .request(let request): writeCall?.send(request)
            case .resumeRefused: resumeRefused()
            case .ready(let position): writeStreamIsReady(position)
            case .committed(let results, let time, let position):
                committed(results, time, position)
            }
        }
    }

    private func openWriteStream() {
        writeGeneration += 1
        let generation = writeGeneration
        let scheduler = environment.scheduler
        writeCall = environment.transport.write(context()) { [weak self] event in
            scheduler.enqueue { [weak self] in self?.received(event, generation) }
        }
    }

    private func closeWriteStream() {
        writeGeneration += 1
        // Finished, not cancelled: the empty request before it is still to arrive.
        writeCall?.finish()
        writeCall = nil
    }

    private func received(_ event: StreamEvent<WriteResponse>, _ generation: Int) {
        guard generation == writeGeneration, state == .running else { return }
        switch event {
        case .message(let response): performWrite(event: .received(response))
        case .ended(let status): performWrite(.ended(status))
        }
    }

    /// Nothing is sent before it is stored where to ask for the answer.
    private func writeStreamIsReady(_ position: WritePosition?) {
        do { try local.queue.keep(position) } catch { return storageFailed() }
        for batch in pipeline { performWrite(event: .send(batch.mutations)) }
    }

    private func committed(
        _ results: [MutationResult], _ time: Timestamp, _ position: WritePosition?
    ) {
        #if TIDEMARK_DEFECTS
            let answered = isPlanted(.acknowledgedOutOfOrder) ? pipeline.last : pipeline.first
        #else
            let answered = pipeline.first
        #endif
        guard let batch = answered else { return }
        store(.acknowledged(batch, results, time, position))
        #if TIDEMARK_DEFECTS
            if isPlanted(.ackTakenTwice), let next = pipeline.first {
                store(.acknowledged(next, results, time, position))
            }
        #endif
    }

    /// Stores what became of a batch, or sees to it that it is stored later.
    @discardableResult
    func store(_ outcome: WriteOutcome) -> Bool {
        let changed: [LocalDocument]
        do {
            switch outcome {
            case .acknowledged(let batch, let results, let time, let position):
                changed = try local.queue.acknowledge(
                    batch, results, commitTime: time, position: position)
            case .rejected(let batch, let reason):
                changed = try local.queue.reject(batch, reason, at: environment.now())
            }
        } catch {
            unstoredOutcome = outcome
            storageFailed()
            return false
        }
        settle(outcome, changed)
        return true
    }

    /// The batch is out of the queue. Its writer hears of it before the listeners.
    private func settle(_ outcome: WriteOutcome, _ changed: [LocalDocument]) {
        let id = outcome.batch.id
        let event = outcome.event
        if stubborn != nil { writesSingly = false }
        stubborn = nil
        tellQueueLater()
        if pipeline.first?.id == id { pipeline.removeFirst() }
        writeObservers.removeValue(forKey: id)?(event)
        let done = pendingWriteWaiters.filter { $0.batch <= id }
        pendingWriteWaiters.removeAll { $0.batch <= id }
        for waiter in done { waiter.completion(nil) }
        refreshViews(changed, nil)
        fillPipeline()
    }

    private func writeStreamFailed(_ status: RPCStatus, _ wasReady: Bool) {
        writeGeneration += 1
        writeCall = nil
        guard networkEnabled else { return }
        #if TIDEMARK_DEFECTS
            if isPlanted(.lostRequeue), pipeline.count > 1 { pipeline.removeFirst() }
        #endif
        if wasReady, status.code.rejectsWrite, let batch = pipeline.first {
            // It was a batch's fault, not the connection's.
            performWrite(.inhibitBackoff)
            if pipeline.count > 1, local.queue.writePosition != nil {
                // The head may have been applied, and its answer lost: the server is asked.
                writesSingly = true
                pipeline = []
                fillPipeline()
            } else {
                reject(batch, status)
            }
        } else if wasReady, status.code.mayBeOfTheWrite, let batch = pipeline.first {
            isStubborn(batch) ? reject(batch, status) : fillPipeline()
        } else {
            fillPipeline()
        }
    }

    /// Whether the server has failed on the batch, sent alone, for as long as one waits.
    private func isStubborn(_ batch: MutationBatch) -> Bool {
        let elapsed = environment.scheduler.elapsed
        if stubborn?.batch != batch.id {
            stubborn = StubbornBatch(batch: batch.id, elapsed: elapsed)
        }
        // Which of several is at fault shows when each is sent alone.
        if !writesSingly { pipeline = [] }
        writesSingly = true
        return stubborn!.failed(elapsed: elapsed)
    }

    private func reject(_ batch: MutationBatch, _ status: RPCStatus) {
        writesSingly = false
        performWrite(event: .forgetPosition)
        store(.rejected(batch, status))
    }

    private func resumeRefused() {
        writeGeneration += 1
        writeCall = nil
        do { try local.queue.keep(nil) } catch { return storageFailed() }
        guard networkEnabled else { return }
        performWrite(.inhibitBackoff)
        fillPipeline()
    }

    // MARK: Waiting

    func waitForPendingWrites(_ completion: @escaping @Sendable (SyncError?) -> Void) {
        // A view's writes are another client's to send.
        if let refusal = writeRefusal { return completion(refusal) }
        guard let last = local.queue.pending.batches.last else { return completion(nil) }
        pendingWriteWaiters.append((last.id, completion))
    }
}

/// The server's last word on a batch.
enum WriteOutcome: Equatable, Sendable {
    case acknowledged(MutationBatch, [MutationResult], Timestamp, WritePosition?)
    case rejected(MutationBatch, RPCStatus)

    var batch: MutationBatch {
        switch self {
        case .acknowledged(let batch, _, _, _), .rejected(let batch, _): batch
        }
    }

    var event: SyncEngine.WriteEvent {
        switch self {
        case .acknowledged(_, _, let time, _): .acknowledged(commitTime: time)
        case .rejected(_, let status): .failed(.server(status))
        }
    }
}

extension RPCStatus.Code {
    /// Whether trying again cannot help. Source: `core/remote/datastore.cc`; `aborted` aside, which
    /// for a write means that trying again may.
    fileprivate var rejectsWrite: Bool {
        switch self {
        case .invalidArgument, .notFound, .alreadyExists, .permissionDenied, .failedPrecondition,
            .outOfRange, .unimplemented, .dataLoss:
            true
        case .ok, .cancelled, .unknown, .deadlineExceeded, .resourceExhausted, .aborted,
            .internal, .unavailable, .unauthenticated:
            false
        }
    }
}
