public import TidemarkModel

/// Writes that were made together and wait for the server.
public struct PendingWrite: Hashable, Sendable {
    /// Its number in the queue; lower ones are sent first.
    public var batch: Int64
    /// By this device's clock.
    public var time: Timestamp
    public var mutations: [Mutation]
    /// Whether it is under way to the server now.
    public var isBeingSent: Bool
}

/// Writes that the server refused, kept until the app decides.
public struct RejectedWrite: Hashable, Sendable {
    public var batch: Int64
    public var time: Timestamp
    /// Empty for one that could not be read back from the disk.
    public var mutations: [Mutation]
    public var rejectedAt: Timestamp
    /// Why it was refused.
    public var reason: RPCStatus
}

/// The queue in figures.
public struct WriteQueueState: Hashable, Sendable {
    public var pending: Int
    /// When the oldest that waits was made; nil when none does.
    public var oldest: Timestamp?
    public var rejected: Int
}

extension SyncEngine {
    /// What waits for the server, in the order in which it will be sent.
    public func pendingWrites(
        completion: @escaping @Sendable (Result<[PendingWrite], SyncError>) -> Void
    ) {
        perform { core in
            if let refusal = core.refusal { return completion(.failure(refusal)) }
            let sent = Set(core.pipeline.map(\.id))
            completion(
                .success(
                    core.local.queue.pending.batches.map { batch in
                        PendingWrite(
                            batch: batch.id, time: batch.localWriteTime,
                            mutations: batch.mutations, isBeingSent: sent.contains(batch.id))
                    }))
        }
    }

    /// What was refused and is still kept, oldest first: the newest thousand.
    public func rejectedWrites(
        completion: @escaping @Sendable (Result<[RejectedWrite], SyncError>) -> Void
    ) {
        perform { core in
            if let refusal = core.refusal { return completion(.failure(refusal)) }
            completion(
                Result { try core.local.queue.rejectedWrites() }.mapError(SyncError.init(storing:)))
        }
    }

    /// Forgets a rejected write; one that is not there is forgotten already.
    public func discardRejectedWrite(
        _ batch: Int64, completion: @escaping @Sendable (SyncError?) -> Void
    ) {
        perform { core in
            if let refusal = core.writeRefusal { return completion(refusal) }
            do {
                try core.local.queue.discardRejected(batch)
                core.tellQueueLater()
                completion(nil)
            } catch { completion(SyncError(storing: error)) }
        }
    }

    /// Puts a rejected write at the end of the queue again, as a new batch. `observer`: as of
    /// ``write(_:observer:)``; it fails with `notFound` when there is no such write.
    public func retryRejectedWrite(
        _ batch: Int64, observer: @escaping @Sendable (WriteEvent) -> Void
    ) {
        perform { $0.retryRejectedWrite(batch, observer) }
    }

    /// Tells how the queue stands: now, and after each change, until the returned handle is
    /// cancelled.
    public func observeWriteQueue(
        _ observer: @escaping @Sendable (WriteQueueState) -> Void
    ) -> any CancellableCall {
        subscribe {
            $0.observeQueue($1, observer)
        } end: {
            $0.queueObservers[$1] = nil
        }
    }
}

extension EngineCore {
    var queueState: WriteQueueState {
        WriteQueueState(
            pending: local.queue.pending.batches.count,
            oldest: local.queue.pending.batches.first?.localWriteTime,
            rejected: local.queue.rejectedCount)
    }

    func observeQueue(_ id: UInt64, _ observer: @escaping @Sendable (WriteQueueState) -> Void) {
        guard state == .running else { return }
        queueObservers[id] = observer
        observer(queueState)
    }

    /// After this step, so that several changes in one are told once.
    func tellQueueLater() {
        guard !queueObservers.isEmpty, !willTellQueue else { return }
        willTellQueue = true
        environment.scheduler.enqueue { [weak self] in
            guard let self else { return }
            willTellQueue = false
            for id in queueObservers.keys.sorted() { queueObservers[id]?(queueState) }
        }
    }

    func retryRejectedWrite(
        _ id: Int64, _ observer: @escaping @Sendable (SyncEngine.WriteEvent) -> Void
    ) {
        if let refusal = writeRefusal { return observer(.failed(refusal)) }
        do {
            guard let rejected = try local.queue.rejectedWrites().first(where: { $0.batch == id }),
                !rejected.mutations.isEmpty
            else {
                let status = RPCStatus(.notFound, "No rejected write has the number \(id).")
                return observer(.failed(.server(status)))
            }
            write(rejected.mutations, inPlaceOf: id, observer)
        } catch { observer(.failed(SyncError(storing: error))) }
    }
}
