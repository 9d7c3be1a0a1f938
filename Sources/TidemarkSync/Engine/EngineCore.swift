import TidemarkModel
import TidemarkResilience
import TidemarkStore

/// The engine: owns the parts, dispatches events between them, and is their interface. It contains
/// no suspension point.
///
/// Every call of an app, timer and message of a stream is a job: ``run(_:)`` passes it to one part.
/// The notifications of parts wait in a queue, which ``drain()`` empties while no part's call is on
/// the stack. So no part is entered while its own call is on the stack (Decisions/0031).
///
/// Unchecked, because the compiler cannot see the confinement: after `init` every access is a job
/// on the environment's scheduler, which runs one job at a time.
final class EngineCore: @unchecked Sendable {
    let context: EngineContext
    let parts: EngineParts
    /// True while a job runs, for an assertion.
    private var isInJob = false

    init(_ configuration: SyncEngine.Configuration, _ environment: SyncEnvironment) throws {
        let user = configuration.user
        if let fault = CacheFiles.fault(of: user) { throw fault }
        let opening = CacheOpening(configuration, environment)
        let cache = try opening.open(user)
        let gate = EngineGate(
            isReadOnly: cache.isView, sharesWrites: opening.inbox(of: user) != nil)
        context = EngineContext(configuration, environment: environment, gate: gate)
        parts = EngineParts(
            context, CacheStorage(context, opening: opening, local: cache.local, of: user))
        context.attach(self)
    }

    var isReadOnly: Bool { context.gate.isReadOnly }
    var database: DatabaseID { context.database }
    var environment: SyncEnvironment { context.environment }

    func start() {
        if context.gate.isReadOnly { step(.disabled) }
        parts.sharing.opened()
        parts.writing.fill()
        parts.indexes.want()
        parts.garbage.start()
    }

    /// Marks an engine that never runs, because the client could not be created.
    func refuse(_ error: SyncError) { context.gate.refuse(error) }
}

// MARK: - The loop

extension EngineCore {
    /// Runs a job, and dispatches what the parts notified meanwhile.
    func run(_ job: (EngineCore) -> Void) {
        assert(!isInJob, "a job of the engine began inside of another job")
        isInJob = true
        job(self)
        drain()
        isInJob = false
    }

    /// Dispatches the waiting notifications, and those that they cause, in their order. Call it
    /// only while no part's call is on the stack.
    private func drain() {
        while let event = context.nextNotice() { dispatch(event) }
    }

    /// Steps the estimate whether the server is reachable, and dispatches its change at once.
    private func step(_ event: OnlineState.Event) {
        parts.reachability.step(event)
        drain()
    }

    /// Dispatches an event of one part to the other parts.
    private func dispatch(_ event: EngineEvent) {
        switch event {
        case .storageFailed: storageFailed()
        case .onlineStateChanged(let state):
            // During a change of user the rows belong to another user; the change itself notifies
            // listeners.
            if !context.gate.isChangingUser { parts.views.onlineStateChanged(to: state) }
        case .serverIsBack:
            parts.connection.inhibitBackoff()
            parts.writing.inhibitBackoff()
            startStreams()
        case .snapshot(let event): parts.remote.take(event)
        case .targetRejected(let id, let status): parts.remote.rejected(id, status)
        case .listenersBilled: parts.remote.enforceBudgets()
        case .enteredLimbo(let path, let view): parts.remote.enterLimbo(path, view: view)
        case .leftLimbo(let path, let view): parts.remote.leaveLimbo(path, view: view)
        case .queryFailed(let listened, let error): parts.remote.fail(listened, error)
        case .filesChanged: parts.files.changed()
        case .cacheTaken: cacheTaken()
        case .cacheWanted: handOver()
        }
    }

    func fired(_ id: TimerID) {
        context.forgetTimer(id)
        guard context.gate.isServing else { return }
        switch id {
        case .onlineState: step(.timerFired)
        case .listenBackoff, .listenIdle, .listenHealthy: parts.connection.fired(id)
        case .writeBackoff, .writeIdle, .writeHealthy: parts.writing.fired(id)
        case .storageRetry: retryStorage()
        case .indexBuilding: parts.indexes.buildSlice()
        case .logMoving: parts.storage.moveLog()
        case .garbageCollection: parts.garbage.collectStep()
        case .meterSave: parts.meter.save()
        case .heldBack: parts.remote.releaseHeld()
        case .cacheSharing: parts.sharing.look()
        case .readDeadline, .callRetry, .transactionRetry, .feedRetry: break
        }
    }

    /// Passes an input to its part.
    func receive(_ input: EngineInput) {
        switch input {
        case .listen(let event, let generation): parts.connection.received(event, generation)
        case .write(let event, let generation): parts.writing.received(event, generation)
        case .reply(let event, let call, let attempt, let flowControl):
            flowControl.processed(event)
            parts.calls.received(event, call: call, attempt)
        case .copied(let copy, let number, let began):
            parts.sharing.copied(copy, number, since: began)
        }
    }

    // MARK: Streams

    private func startStreams() {
        parts.connection.startIfNeeded()
        parts.writing.fill()
    }

    private func stopStreams() {
        parts.connection.stop()
        parts.writing.stop()
    }

    func setNetworkEnabled(_ enabled: Bool, _ completion: @escaping @Sendable () -> Void) {
        defer {
            drain()
            completion()
        }
        guard context.gate.setNetworkEnabled(enabled) else { return }
        if enabled {
            guard context.gate.mayConnect else { return }
            step(.mayBeBack)
            startStreams()
        } else {
            stopStreams()
            step(.disabled)
        }
    }

    /// Reacts to a changed network or an app that became active: all delays end. The function also
    /// reconnects if everything seems well, because a connection over the previous network may be
    /// dead without anyone noticing.
    ///
    /// Source: `core/remote/remote_store.cc`, `RestartNetwork`.
    func networkMayBeBack() {
        guard context.gate.isServing else { return }
        if context.gate.isStorageBroken || context.gate.isChangingUser {
            // The files of an unlocked device are accessible again.
            context.environment.transport.networkChanged()
            context.cancelTimer(.storageRetry)
            return retryStorage()
        }
        guard context.gate.mayConnect else { return }
        context.environment.transport.networkChanged()
        parts.reachability.forgetSilence()
        stopStreams()
        step(.mayBeBack)
        startStreams()
    }

    // MARK: Storage that fails

    /// Handles data of the server that could not be stored. Nothing more is accepted until it can
    /// be: the streams stop, listeners are marked as served from the cache, and storing is retried.
    ///
    /// Source: `jsc/remote/remote_store.ts`, `disableNetworkUntilRecovery`.
    private func storageFailed() {
        // An earlier notification of the same job may have opened the gate again.
        context.gate.storageBroke()
        stopStreams()
        step(.disabled)
    }

    /// Retries storing: first the pending data in order, and only then anything new.
    private func retryStorage() {
        parts.storage.retryBegins()
        if parts.storage.isDamaged {
            do { try rebuildCache() } catch {
                return parts.storage.ended(StorageFault(error) ?? .defect(detail: "\(error)"))
            }
            context.gate.storageBroke()
        }
        if parts.writing.hasUnstored {
            guard parts.writing.storeUnstored() else { return }
        } else if !parts.storage.isClosed {
            do { try parts.storage.local.probe() } catch { return }
        }
        if !parts.users.isEmpty { return changeUsers() }
        guard context.gate.isStorageBroken else { return }
        context.gate.storageWorks()
        guard context.gate.isNetworkEnabled else { return }
        step(.mayBeBack)
        startStreams()
    }

    private func rebuildCache() throws {
        stopStreams()
        parts.listeners.pauseOpenings()
        parts.slices.endAll(.storage(.damaged(detail: "The cache is being rebuilt.")))
        try parts.exchange.rebuild()
        parts.remote.listenToAll()
        parts.listeners.restartOpenings()
    }

    // MARK: Users

    func changeUser(_ change: UserChange) {
        #if TIDEMARK_DEFECTS
            let underWay = parts.writing.batchesUnderWay
            defer {
                if context.isPlanted(.queueOfUserBefore), parts.users.isEmpty {
                    parts.writing.sendAgain(underWay)
                }
            }
        #endif
        guard parts.users.ask(change) else { return }
        // An answer requested for one user must not be returned to or stored for the next one.
        stopStreams()
        endCalls(RPCStatus(.cancelled, "The user changed."), reads: .userChanged)
        // Stops the reads of listeners first; they continue with the next cache.
        parts.listeners.pauseOpenings()
        parts.slices.endAll(.userChanged)
        // A batch whose result is not stored yet, or a queue that is not in its new cache yet,
        // belongs to the present user and must be stored first.
        if mayChangeCaches { changeUsers() }
    }

    private var mayChangeCaches: Bool {
        context.gate.isServing && !parts.writing.hasUnstored && !parts.storage.isDamaged
    }

    /// Makes the changes of user. The engine serves no user until all are made.
    private func changeUsers() {
        guard parts.users.makeAll() else { return }
        context.gate.storageWorks()
        parts.storage.ended(nil)
        if context.gate.isNetworkEnabled { step(.mayBeBack) }
        cacheIsThere()
        parts.sharing.opened()
    }

    // MARK: Other processes

    /// The process that held the cache has ended or is suspended: this process now asks the server
    /// and sends writes.
    private func cacheTaken() {
        if context.gate.isNetworkEnabled { step(.mayBeBack) }
        cacheIsThere()
        parts.sharing.tookOver()
    }

    private func cacheIsThere() {
        parts.remote.listenToAll()
        parts.listeners.restartOpenings()
        parts.indexes.want()
        // A pause stops garbage collection.
        if !context.isScheduled(.garbageCollection) { parts.garbage.start() }
        startStreams()
    }

    /// Hands the cache to another process, and views it from now on.
    private func handOver() {
        let error = SyncError.storage(.locked)
        leave(RPCStatus(.unavailable, "Another process has taken over the cache."), reads: error)
        if parts.sharing.handOver() { return }
        parts.users.reopen()
        changeUsers()
    }

    /// Ends everything that uses the cache or asks the server; listeners stay.
    private func leave(_ status: RPCStatus, reads error: SyncError) {
        stopStreams()
        endCalls(status, reads: error)
        // Stops the reads of listeners first; they continue with the next cache.
        parts.listeners.pauseOpenings()
        parts.slices.endAll(error)
        step(.disabled)
        context.cancelAllTimers()
        parts.storage.retryBegins()
    }

    // MARK: A pause

    /// Ends streams and calls, and closes the cache's file. Listeners stay and are marked as served
    /// from the cache; everything else is refused until ``resume()``.
    func suspend(_ completion: @escaping @Sendable () -> Void) {
        defer { completion() }
        guard context.gate.suspend() else { return }
        leave(RPCStatus(.cancelled, "The client was suspended."), reads: .suspended)
        parts.sharing.paused()
        // Another process may go on with the uploads now.
        parts.files.changed()
        // Data that could not be stored exists only in memory, so the file is still needed for it.
        if !parts.writing.hasUnstored, !parts.storage.isDamaged { parts.storage.closeForNow() }
    }

    /// Opens the cache again and continues. If the file cannot be opened, opening is retried, as
    /// for another user's file.
    func resume() {
        guard context.gate.resume() else { return }
        if parts.storage.isClosed {
            parts.users.reopen()
        } else {
            parts.listeners.restartOpenings()
            parts.remote.releaseHeld()
            parts.indexes.want()
            parts.garbage.start()
            parts.sharing.opened()
        }
        if !parts.users.isEmpty, mayChangeCaches { return changeUsers() }
        if !parts.users.isEmpty || context.gate.isStorageBroken { return retryStorage() }
        if context.gate.isNetworkEnabled { step(.mayBeBack) }
        startStreams()
    }

    /// Ends all calls without an answer.
    private func endCalls(_ status: RPCStatus, reads error: SyncError) {
        parts.reads.endAll(error)
        parts.calls.endAll(status)
    }

    // MARK: The end

    func terminate(_ completion: @escaping @Sendable () -> Void) {
        guard context.gate.isRunning else { return completion() }
        stopStreams()
        context.gate.terminate()
        context.cancelAllTimers()
        endCalls(RPCStatus(.cancelled, "The client was terminated."), reads: .terminated)
        parts.slices.endAll(.terminated)
        parts.listeners.endAll(.terminated)
        parts.writing.notifyObserversOfEnd(.terminated)
        parts.storage.removeObservers()
        parts.views.removeInSyncObservers()
        parts.meter.removeObservers()
        parts.users.endAll(.terminated)
        parts.writing.watch.end(.terminated)
        parts.files.removeObservers()
        // Only newer tokens would be lost if closing fails; the next listen then reads slightly
        // more.
        do { try parts.storage.local.close() } catch {}
        completion()
    }
}

extension Result where Failure == SyncError {
    var error: SyncError? { if case .failure(let error) = self { error } else { nil } }
}

extension SyncError {
    /// Converts any error of the store.
    init(storing error: any Error) {
        switch error {
        case let error as SyncError: self = error
        default: self = .storage(StorageFault(error) ?? .defect(detail: "\(error)"))
        }
    }
}
