import TidemarkModel
import TidemarkStore

// Storage that fails: what is told, what stops, and how it is tried again.

extension EngineCore {
    /// Whether another cache has to take the place of ``local``.
    var isDamaged: Bool { localIsDamaged || rescued != nil }

    func localTransactionEnded(_ fault: StorageFault?) {
        if case .damaged? = fault { localIsDamaged = true }
        transactionEnded(fault)
        if fault == nil { wantLogMoved() }
    }

    /// Every transaction that wrote, or failed, comes by here.
    func transactionEnded(_ fault: StorageFault?) {
        guard state == .running else { return }
        if let fault {
            perform(
                storageHealth.step(
                    .failed(
                        fault, elapsed: environment.scheduler.elapsed,
                        jitter: environment.random())))
        } else if storageHealth != StorageHealth() {
            perform(storageHealth.step(.stored))
            if !storageIsBroken, userChanges.isEmpty { perform(storageHealth.step(.recovered)) }
        }
    }

    // MARK: The log

    /// A burst is over when nothing was written for so long.
    private static let pauseBeforeLog = Duration.milliseconds(50)

    private func wantLogMoved() {
        guard state == .running, !isScheduled(.logMoving), local.store.hasLongLog else { return }
        lengthOfLog = local.store.pagesInLog
        schedule(.logMoving, after: Self.pauseBeforeLog)
    }

    /// Moving the log waits for the disk, and what is written a moment later makes the next one: so not
    /// within a burst, and not within a write that somebody waits for, unless it has become very long.
    func moveLog() {
        guard local.store.hasLongLog else { return }
        guard local.store.pagesInLog == lengthOfLog else { return wantLogMoved() }
        local.store.moveLog()
    }

    // MARK: Health

    private func perform(_ effects: [StorageHealth.Effect]) {
        for effect in effects {
            switch effect {
            case .changed(let state):
                for id in storageObservers.keys.sorted() { storageObservers[id]?(state) }
            case .scheduleRetry(let delay): schedule(.storageRetry, after: delay)
            case .cancelRetry: cancelTimer(.storageRetry)
            }
        }
    }

    /// What the server said could not be stored. Nothing more is taken in until it can: the streams
    /// stop, listeners are told that what they see is the cache's, and it is tried again.
    ///
    /// Source: `jsc/remote/remote_store.ts`, `disableNetworkUntilRecovery`.
    func storageFailed() {
        storageIsBroken = true
        stopStreams()
        perform(online.step(.disabled))
    }

    /// What waits to be stored goes first, in its order; only then is anything new taken in.
    func retryStorage() {
        perform(storageHealth.step(.retrying))
        if isDamaged {
            do { try rebuildCache() } catch {
                return transactionEnded(StorageFault(error) ?? .defect(detail: "\(error)"))
            }
            storageIsBroken = true
        }
        if let outcome = unstoredOutcome {
            unstoredOutcome = nil
            guard store(outcome) else { return }
        } else {
            do { try local.probe() } catch { return }
        }
        if !userChanges.isEmpty {
            changeUsers()
            return
        }
        guard storageIsBroken else { return }
        storageIsBroken = false
        guard networkEnabled else { return }
        perform(online.step(.mayBeBack))
        startStreams()
    }

    /// Tells the present state at once, and then every change.
    func observeStorage(_ id: UInt64, _ observer: @escaping @Sendable (StorageState) -> Void) {
        storageObservers[id] = observer
        observer(storageHealth.state)
    }
}
