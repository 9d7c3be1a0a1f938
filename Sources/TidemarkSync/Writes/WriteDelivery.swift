import TidemarkModel
import TidemarkStore

/// The server's final answer about a batch.
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

/// Delivers the mutation queue to the server: journals writes, sends them in order, stores their
/// results, and informs the observers.
// @unchecked: used on the engine's executor only, like the engine.
final class WriteDelivery: @unchecked Sendable {
    typealias Observer = @Sendable (SyncEngine.WriteEvent) -> Void

    private let context: EngineContext
    private let storage: CacheStorage
    private let views: QueryViews
    private let shared: SharedWrites
    private var stream: WriteStream
    private var call: (any RequestStream<WriteRequest>)?
    /// The number of the present stream. A late event of an old stream has another number.
    private var generation = 0
    /// True while an event of the stream is handled, for an assertion.
    private var isReceiving = false
    private var pipeline = WritePipeline()
    /// The server's answer about the batch at the head of the queue. It must be stored before
    /// anything else, because a second send of the batch would apply it twice.
    private var unstored: WriteOutcome?
    private var observers: [Int64: Observer] = [:]
    let watch: QueueWatch

    init(
        _ context: EngineContext, storage: CacheStorage, views: QueryViews,
        shared: SharedWrites
    ) {
        self.context = context
        self.storage = storage
        self.views = views
        self.shared = shared
        watch = QueueWatch(context, storage)
        stream = WriteStream(position: storage.local.queue.writePosition)
        #if TIDEMARK_DEFECTS
            if context.isPlanted(.sentTwiceAfterRestart) { stream = WriteStream() }
        #endif
    }

    deinit { call?.cancel() }

    // MARK: Writing

    func write(
        _ mutations: [Mutation], attaching attached: AttachedFiles? = nil,
        inPlaceOf rejected: Int64? = nil, _ observer: @escaping Observer
    ) {
        if let refusal = context.gate.journalRefusal { return observer(.failed(refusal)) }
        guard !mutations.isEmpty else {
            return observer(.failed(.invalidArgument("A write without mutations.")))
        }
        let local = storage.local
        let limit = context.configuration.maxPendingWrites
        guard local.queue.pending.batches.count < limit else {
            return observer(.failed(.queueFull(limit: limit)))
        }
        if let refusal = refusal(ofTwinsIn: mutations) { return observer(.failed(refusal)) }
        if let refusal = refusal(of: attached) { return observer(.failed(refusal)) }
        if context.gate.isReadOnly, let inbox = storage.opening.inbox(of: storage.user) {
            return journalled(shared.leave(mutations, in: inbox, observer))
        }
        let batch: MutationBatch
        let changed: [LocalDocument]
        do {
            // Earlier writes of other processes come first.
            if let inbox = storage.opening.inbox(of: storage.user) {
                try takeShared(from: inbox, most: .max)
            }
            (batch, changed) = try local.queue.enqueue(
                mutations, at: context.environment.now(), inPlaceOf: rejected,
                attaching: attached?.files ?? [], deleting: attached?.deleted ?? [])
        } catch { return observer(.failed(SyncError(storing: error))) }
        observers[batch.id] = observer
        observer(.journalled(batch: batch.id))
        journalled(changed)
        if attached != nil { context.notify(.filesChanged) }
    }

    /// Returns why files cannot be attached now; nil if they can be.
    private func refusal(of attached: AttachedFiles?) -> SyncError? {
        guard let attached else { return nil }
        if context.gate.isReadOnly { return .server(AttachedFiles.viewed) }
        do {
            for path in Set(attached.deleted.map(\.document)) {
                let kind = try storage.local.documents.document(at: path).kind
                if kind == nil || kind == .unknown {
                    return .server(AttachedFiles.unknown(path))
                }
            }
            let totals = try storage.local.queue.readFiles { try $0.totals($1) }
            return attached.refusal(beside: totals).map(SyncError.server)
        } catch { return SyncError(storing: error) }
    }

    /// Returns why a write of a dictionary must not replace the document that is known here; nil if
    /// it may. A cache that cannot be read is an error of the write itself.
    private func refusal(ofTwinsIn mutations: [Mutation]) -> SyncError? {
        for mutation in mutations {
            let lost = TwinNames.lost(
                by: mutation,
                from: (try? storage.local.documents.document(at: mutation.path))?.viewDocument?
                    .document.fields)
            if let lost { return TwinNames.refusal(lost, of: mutation.path) }
        }
        return nil
    }

    /// Informs the views and the queue's observers, and sends.
    private func journalled(_ changed: [LocalDocument]) {
        watch.notifyLater()
        #if TIDEMARK_DEFECTS
            if !context.isPlanted(.ownWriteHidden) { views.refresh(changed) }
        #else
            views.refresh(changed)
        #endif
        fill()
    }

    /// Queues a batch of another store, unless it was queued before.
    ///
    /// - Returns: The number of the batch in the queue; nil if it was queued before.
    func take(_ moved: MovedBatch) -> Result<Int64?, SyncError> {
        if let refusal = context.gate.writeRefusal { return .failure(refusal) }
        let local = storage.local
        guard UserKey(moved.user) == UserKey(local.queue.user) else {
            let status = RPCStatus(.failedPrecondition, "The writes are another user's.")
            return .failure(.server(status))
        }
        let batch: MutationBatch
        let changed: [LocalDocument]
        do {
            if try local.records.value(forKey: MovedMarks.key(of: moved.mark)) != nil {
                return .success(nil)
            }
            let limit = context.configuration.maxPendingWrites
            guard local.queue.pending.batches.count < limit else {
                return .failure(.queueFull(limit: limit))
            }
            (batch, changed) = try local.queue.enqueue(
                moved.mutations, at: moved.time ?? context.environment.now(),
                noting: .moved(moved.mark))
        } catch { return .failure(SyncError(storing: error)) }
        journalled(changed)
        return .success(batch.id)
    }

    /// Queues and sends the writes of other processes.
    ///
    /// - Returns: True if no more writes can be taken now.
    func takeShared(from inbox: StoreInbox) -> Bool {
        do { return try takeShared(from: inbox, most: SharedWrites.mostAtOnce) } catch {
            // The writes are still there the next time.
            if let fault = StorageFault(error) { storage.ended(fault) }
            return true
        }
    }

    @discardableResult
    private func takeShared(from inbox: StoreInbox, most: Int) throws -> Bool {
        let (changed, isAll) = try shared.take(from: inbox, most: most)
        for waiting in shared.settle() { observers[waiting.batch] = waiting.observer }
        if !changed.isEmpty { journalled(changed) }
        return isAll
    }

    /// Appends a rejected write to the queue again.
    func retry(rejected id: Int64, _ observer: @escaping Observer) {
        if let refusal = context.gate.writeRefusal { return observer(.failed(refusal)) }
        do {
            let all = try storage.local.queue.rejectedWrites()
            guard let rejected = all.first(where: { $0.batch == id }), !rejected.mutations.isEmpty
            else {
                let status = RPCStatus(.notFound, "No rejected write has the number \(id).")
                return observer(.failed(.server(status)))
            }
            let files = try storage.local.queue.readFiles { try $0.files(ofBatch: id, $1) }
            let again = FilesAgain(rejected.mutations, files: files, batch: id)
            write(again.mutations, attaching: again.attached, inPlaceOf: id, observer)
        } catch { observer(.failed(SyncError(storing: error))) }
    }

    func discard(rejected id: Int64) throws {
        try storage.local.queue.discardRejected(id)
        watch.notifyLater()
        context.notify(.filesChanged)
    }

    /// Handles held batches that left the queue or can be sent now.
    ///
    /// - Parameters:
    ///   - dropped: The batch that the app gave up, and the reason for its observer.
    func heldChanged(dropped: (batch: Int64, error: SyncError)?, _ changed: [LocalDocument]) {
        if let dropped { observers.removeValue(forKey: dropped.batch)?(.failed(dropped.error)) }
        watch.completeWaits()
        watch.notifyLater()
        views.refresh(changed)
        fill()
    }

    // MARK: The stream

    /// Sends the batches that may be sent now, and opens the stream for them.
    func fill() {
        guard context.gate.maySend, !context.gate.isReadOnly else { return }
        let local = storage.local
        while let batch = pipeline.takeNext(of: local.queue.pending) {
            if stream.isOpen, stream.isReady { step(.send(batch.mutations)) }
        }
        if pipeline.batches.isEmpty {
            step(.lifecycle(.idle))
        } else if context.gate.mayConnect, !stream.isStarted {
            step(
                .lifecycle(
                    .start(elapsed: context.elapsed, jitter: context.environment.random())))
        }
    }

    func stop() {
        assert(!isReceiving, "the write stream is stopped while its event is handled")
        step(.lifecycle(.stop))
        pipeline.stop()
    }

    /// Lets the next attempt start without a delay, because the server is reachable.
    func inhibitBackoff() { step(.lifecycle(.inhibitBackoff)) }

    func fired(_ timer: TimerID) {
        switch timer {
        case .writeBackoff: step(.lifecycle(.backoffElapsed))
        case .writeIdle: step(.lifecycle(.idleElapsed))
        case .writeHealthy: step(.lifecycle(.healthyElapsed))
        default: preconditionFailure("\(timer) is not of the write stream")
        }
    }

    private func step(_ event: WriteStream.Event) {
        for effect in stream.step(event) {
            switch effect {
            case .lifecycle(.open): open()
            case .lifecycle(.close): close()
            case .lifecycle(.schedule(let id, let delay)): context.schedule(id, after: delay)
            case .lifecycle(.cancel(let id)): context.cancelTimer(id)
            case .lifecycle(.failed): preconditionFailure("the machine tells it another way")
            case .failed(let status, let wasReady): failed(status, wasReady: wasReady)
            case .request(let request): call?.send(request)
            case .resumeRefused: resumeRefused()
            case .ready(let position): becameReady(position)
            case .committed(let results, let time, let position):
                committed(results, time: time, position: position)
            }
        }
    }

    private func open() {
        generation += 1
        call = context.environment.transport.write(context.callContext()) {
            [weak context, generation] event in
            context?.receive(.write(event, generation: generation))
        }
    }

    private func close() {
        generation += 1
        // The call is finished and not cancelled, because the empty request before it must still
        // arrive.
        call?.finish()
        call = nil
    }

    func received(_ event: StreamEvent<WriteResponse>, _ generation: Int) {
        guard generation == self.generation, context.gate.isRunning else { return }
        isReceiving = true
        defer { isReceiving = false }
        switch event {
        case .message(let response): step(.received(response))
        case .ended(let status): step(.lifecycle(.ended(status)))
        }
    }

    /// Stores the position before any batch is sent, because a lost answer is requested with it.
    private func becameReady(_ position: WritePosition?) {
        do { try storage.local.queue.keep(position) } catch {
            return context.storageFailed()
        }
        for batch in pipeline.batches { step(.send(batch.mutations)) }
    }

    private func failed(_ status: RPCStatus, wasReady: Bool) {
        generation += 1
        call = nil
        guard context.gate.isNetworkEnabled else { return }
        #if TIDEMARK_DEFECTS
            if context.isPlanted(.lostRequeue) { pipeline.loseFirst() }
        #endif
        let verdict = pipeline.streamFailed(
            status.code, wasReady: wasReady, mayResume: storage.local.queue.writePosition != nil,
            elapsed: context.elapsed)
        switch verdict {
        case .resend: fill()
        case .resendSingly:
            inhibitBackoff()
            fill()
        case .reject(let batch, let isRefusal):
            if isRefusal { inhibitBackoff() }
            step(.forgetPosition)
            store(.rejected(batch, status))
        }
    }

    private func resumeRefused() {
        generation += 1
        call = nil
        do { try storage.local.queue.keep(nil) } catch {
            return context.storageFailed()
        }
        guard context.gate.isNetworkEnabled else { return }
        inhibitBackoff()
        fill()
    }

    // MARK: What becomes of batches

    private func committed(
        _ results: [MutationResult], time: Timestamp, position: WritePosition?
    ) {
        #if TIDEMARK_DEFECTS
            let answered =
                context.isPlanted(.acknowledgedOutOfOrder)
                ? pipeline.batches.last : pipeline.batches.first
        #else
            let answered = pipeline.batches.first
        #endif
        guard let batch = answered else { return }
        store(.acknowledged(batch, results, time, position))
        #if TIDEMARK_DEFECTS
            if context.isPlanted(.ackTakenTwice), let next = pipeline.batches.first {
                store(.acknowledged(next, results, time, position))
            }
        #endif
    }

    /// Stores the result of a batch now, or schedules it for later.
    @discardableResult
    private func store(_ outcome: WriteOutcome) -> Bool {
        let changed: [LocalDocument]
        do {
            switch outcome {
            case .acknowledged(let batch, let results, let time, let position):
                changed = try storage.local.queue.acknowledge(
                    batch, results, commitTime: time, position: position)
            case .rejected(let batch, let reason):
                changed = try storage.local.queue.reject(
                    batch, reason, at: context.environment.now())
            }
        } catch {
            unstored = outcome
            context.storageFailed()
            return false
        }
        settle(outcome, changed)
        return true
    }

    /// Handles a batch that left the queue. Its writer is informed before the listeners.
    private func settle(_ outcome: WriteOutcome, _ changed: [LocalDocument]) {
        let id = outcome.batch.id
        pipeline.settled(id)
        watch.notifyLater()
        observers.removeValue(forKey: id)?(outcome.event)
        watch.completeWaits()
        views.refresh(changed)
        fill()
        context.notify(.filesChanged)
    }

    /// The batch whose end is not stored, for tests.
    var unstoredBatch: Int64? { unstored?.batch.id }
    var hasUnstored: Bool { unstored != nil }

    /// Stores the result that could not be stored before.
    ///
    /// - Returns: True if no result is left; false if the attempt failed again.
    func storeUnstored() -> Bool {
        guard let outcome = unstored else { return true }
        unstored = nil
        return store(outcome)
    }

    // MARK: Pending writes

    var pendingWrites: [PendingWrite] {
        let sent = Set(pipeline.batches.map(\.id))
        return storage.local.queue.pending.batches.map { batch in
            PendingWrite(
                batch: batch.id, time: batch.localWriteTime, mutations: batch.mutations,
                isBeingSent: sent.contains(batch.id))
        }
    }

    var countUnderWay: Int { pipeline.batches.count }

    // MARK: Another user, another cache, the end

    /// Starts a new stream after the queue was replaced.
    func startAnew() {
        stream = WriteStream(position: storage.local.queue.writePosition)
        pipeline = WritePipeline()
        watch.notifyLater()
        context.notify(.filesChanged)
    }

    /// The writes that this process left for another one, and that a later copy may lack.
    var leftWrites: [String: SharedWrite] { shared.own }

    /// Informs the observers of batches that another process has sent.
    func settle() {
        let queue = storage.local.queue
        for (id, observer) in observers.sorted(by: { $0.key < $1.key }) {
            guard let event = try? queue.fate(of: id).event else { continue }
            observers[id] = nil
            observer(event)
        }
        for waiting in shared.settle() { observers[waiting.batch] = waiting.observer }
        watch.completeWaits()
    }

    /// The observers of one user's batches, in the queue and in the inbox of the process that holds
    /// the cache.
    struct Observers {
        var ofQueue: [Int64: Observer] = [:]
        var ofShared: [String: SharedWrites.Left] = [:]
        var isEmpty: Bool { ofQueue.isEmpty && ofShared.isEmpty }

        func notifyAll(_ event: SyncEngine.WriteEvent) {
            for id in ofQueue.keys.sorted() { ofQueue[id]?(event) }
            for name in ofShared.keys.sorted() { ofShared[name]?.observer(event) }
        }
    }

    /// Removes and returns the observers of the present user's batches; they get no further events
    /// here.
    func takeObservers() -> Observers {
        defer { observers = [:] }
        return Observers(ofQueue: observers, ofShared: shared.takeWaiting())
    }

    /// Sets the observers of the present queue's batches.
    func adopt(_ observers: Observers) {
        self.observers = observers.ofQueue
        shared.adopt(observers.ofShared)
    }

    func notifyObserversOfEnd(_ error: SyncError) {
        for id in observers.keys.sorted() { observers[id]?(.failed(error)) }
        observers = [:]
        shared.notifyObserversOfEnd(error)
    }

    #if TIDEMARK_DEFECTS
        var batchesUnderWay: [MutationBatch] { pipeline.batches }

        /// Acts as if a change of the user left the pipeline unchanged; this is a planted defect.
        func sendAgain(_ underWay: [MutationBatch]) {
            if underWay.isEmpty || !pipeline.batches.isEmpty { return }
            pipeline.putBack(underWay)
            fill()
        }
    #endif
}
