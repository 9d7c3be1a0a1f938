/// The app's waits for pending writes, and its observers of the queue's state.
// @unchecked: used on the engine's executor only, like the engine.
final class QueueWatch: @unchecked Sendable {
    private let context: EngineContext
    private let storage: CacheStorage
    private var waits: [(batch: Int64, completion: @Sendable (SyncError?) -> Void)] = []
    private var observers: [UInt64: @Sendable (WriteQueueState) -> Void] = [:]
    private var willNotify = false

    init(_ context: EngineContext, _ storage: CacheStorage) {
        self.context = context
        self.storage = storage
    }

    // MARK: Waits

    func waitForPendingWrites(_ completion: @escaping @Sendable (SyncError?) -> Void) {
        // Another client sends the writes of a view.
        if let refusal = context.gate.writeRefusal { return completion(refusal) }
        guard let last = storage.local.queue.pending.batches.last else { return completion(nil) }
        waits.append((last.id, completion))
    }

    /// Completes the waits for batches that have left the queue. Batches leave the queue in order.
    func completeWaits() {
        let first = storage.local.queue.pending.batches.first?.id ?? .max
        let done = waits.filter { $0.batch < first }
        waits.removeAll { $0.batch < first }
        for wait in done { wait.completion(nil) }
    }

    /// Completes all waits because another user's queue replaces the queue.
    func userChanged() { endWaits(.userChanged) }

    private func endWaits(_ error: SyncError) {
        let ended = waits
        waits = []
        for wait in ended { wait.completion(error) }
    }

    // MARK: Observers

    func observe(_ id: UInt64, _ observer: @escaping @Sendable (WriteQueueState) -> Void) {
        guard context.gate.isRunning else { return }
        observers[id] = observer
        observer(state)
    }

    func removeObserver(_ id: UInt64) { observers[id] = nil }

    /// Informs the observers after this step, so several changes in one step cause one call.
    func notifyLater() {
        guard !observers.isEmpty, !willNotify else { return }
        willNotify = true
        context.later { [self] in
            willNotify = false
            for id in observers.keys.sorted() { observers[id]?(state) }
        }
    }

    private var state: WriteQueueState {
        let queue = storage.local.queue
        return WriteQueueState(
            pending: queue.pending.batches.count,
            oldest: queue.pending.batches.first?.localWriteTime, rejected: queue.rejectedCount)
    }

    /// Completes all waits and removes all observers, because the client ends.
    func end(_ error: SyncError) {
        observers = [:]
        endWaits(error)
    }
}
