import Synchronization
public import Tidemark

/// A feed over a collection. It opens from disk immediately, and a sync costs only the changes.
///
/// A feed shows a window: the newest ``FeedDefinition/window`` items that the device holds. The
/// cost of opening depends on the window and not on the number of held items. ``loadMore(_:)``
/// extends the window.
///
/// A feed belongs to the user who was signed in when it was made. After a change of the user its
/// calls throw `cancelled`, and the next user needs another feed.
///
/// The feed misses nothing and shows nothing twice, within the limits of its
/// ``FeedDefinition/Way``. All times are the server's. The device's clock is only used for the age
/// of a feed before the server has answered.
public actor Feed {
    typealias Machine = FeedMachine<QueryDocumentSnapshot>

    private let performer: FeedPerformer<QueryDocumentSnapshot>
    private let results = EventQueue<Machine.Event>()
    private let environment: SyncEnvironment
    /// The id of the collection and the field of the change time; nil for other ways.
    private let changeTime: (collection: String, field: String)?
    private var machine: Machine
    private var calls: [Machine.CallID: CheckedContinuation<Machine.Outcome, Never>] = [:]
    private var lastCall = 0
    /// The tag of the last call that requested something.
    private var tag = ReadTag()
    private var watchers: [Int: AsyncStream<NumberedFeedState>.Continuation] = [:]
    private var observers: [Int: AsyncStream<FeedEvent>.Continuation] = [:]
    private var nextWatcher = 0
    private let context: String
    private let observing = Mutex(FeedObservers())
    /// The callers that wait until the feed is live.
    private var liveWaiters: [AsyncStream<Never>.Continuation] = []
    public private(set) var state: FeedState
    /// The number of states before the present one.
    private(set) var stateNumber = 0

    /// - Throws: `invalidArgument` if the definition is invalid.
    public init(_ definition: FeedDefinition) throws(FirestoreError) {
        let parsed = try ParsedDefinition(definition)
        let firestore = definition.query.firestore
        performer = FeedPerformer(
            parsed, firestore.engine.session, in: firestore.databaseID,
            deadline: firestore.readDeadline, content: { firestore.cachedSnapshot(of: $0) })
        environment = firestore.environment
        context = parsed.context
        changeTime = parsed.changeTime.map { (parsed.query.collectionID ?? "", $0.encoded) }
        machine = Machine(parsed.settings)
        state = FeedState(machine.shown)
        performer.followOwn(report)
    }

    deinit { performer.close() }

    public var items: [FeedItem] { state.items }
    public var unreadCount: Int { state.unreadCount }
    /// The feed's marks, after it was opened; see ``Pager/setMarks(_:)``.
    public var marks: Marks { machine.marks }
    /// The parts of the feed that the device holds completely.
    public var coverage: Coverage { machine.progress.coverage }
    /// The next request of ``sync()``, its cost and its reason. Sends nothing.
    public var plan: ReadPlan { machine.plan(at: DeviceTime(environment)) }
    /// Returns the requests of ``startListening()`` until the feed is live, in order, with the rows
    /// of their answers. Call ``open()`` before. Sends nothing.
    ///
    /// The listener to a shared mark is expected to resume if the feed was up to date within the
    /// last 29 minutes; after a ``sync()`` it costs one read more.
    ///
    /// ```swift
    /// let reads = await feed.readsToListen(changes: 50) ?? []
    /// let bill = reads.compactMap { read in
    ///     let row = ExpectedRow(documentBytes: 2_048, entryBytes: 128)
    ///     return read.plan.bill(of: Array(repeating: row, count: read.rows))
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - changes: The number of documents that others have changed since the last read.
    ///   - items: The number of the server's items above the clear mark, which a new device reads.
    /// - Returns: The requests; nil if they depend on more than these numbers: for a feed with
    ///   audits or by item time, after a read of changes that was interrupted, and if an answer has
    ///   more rows than a page.
    public func readsToListen(changes: Int, items: Int = 0) -> [ExpectedRead]? {
        let now = DeviceTime(environment)
        return FeedExpectation(machine, changes: changes, items: items, at: now).reads
    }

    /// Returns the requests of ``startListening()``, as ``readsToListen(changes:items:)`` does, for
    /// known documents. A document that the feed has received within the last minutes is sent again
    /// once, also if it has changed since.
    ///
    /// - Parameters:
    ///   - paths: The documents that others have changed since the last read.
    ///   - items: The number of the server's items above the clear mark.
    public func readsToListen(
        changed paths: some Sequence<DocumentPath>, items: Int = 0
    ) -> [ExpectedRead]? {
        let seen = machine.progress.repeatedChanges == nil ? [:] : machine.progress.cursor.seen
        let changes = Set(paths).count { seen[$0] == nil }
        return readsToListen(changes: changes, items: items)
    }

    /// The counts of the feed's marks and reads since it was made.
    public var counters: FeedCounters { machine.counters }
    /// True if a listener keeps the feed up to date.
    var isListening: Bool { machine.live.listen != nil }
    /// True if the feed listens and the server has answered the listener.
    package var isLive: Bool { machine.live.listen != nil && machine.live.isConfirmed }
    /// Returns when the feed is live.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    package func untilLive() async throws {
        if isLive { return }
        let (stream, waiter) = AsyncStream.makeStream(of: Never.self)
        liveWaiters.append(waiter)
        for await _ in stream {}
        try Task.checkCancellation()
    }

    /// The number of documents and index entries examined to fill the window, since the start.
    package var rowsScanned: Int { machine.rowsScanned }

    /// Reads the window from the device: the newest items, as many as before or as in the
    /// definition. Costs no reads and sends no request. It examines the shown items and the marked
    /// deletes between them, and counts unread items below the window.
    @discardableResult
    public func open() async throws(FirestoreError) -> [FeedItem] {
        _ = try await call { .open($0) }
        return state.items
    }

    /// Opens the feed like ``open()``, but returns when the rows of the window are shown. Unread
    /// items below the window can still be counted, which takes longer if many are held.
    package func openWindow() async throws(FirestoreError) {
        _ = try await call { .openWindow($0) }
    }

    /// Extends the window by the next `count` items that the device holds. This costs no reads and
    /// sends no request. The exception is a feed with a ``FeedDefinition/limit``: items that the
    /// device does not hold are read from the server, page by page, at one read per item.
    ///
    /// - Returns: All items of the window.
    /// - Throws: The error of the server or the disk. The shown items stay, and the next call or
    ///   the next sync reads the missing items.
    @discardableResult
    public func loadMore(_ count: Int) async throws(FirestoreError) -> [FeedItem] {
        guard count > 0 else {
            throw .invalidArgument("At least 1 more item can be loaded, not \(count).")
        }
        _ = try await call { .loadMore(count, $0) }
        return state.items
    }

    /// Extends the window to the whole feed, now and as the feed grows. This needs time and memory
    /// for all items. It costs no reads, except in a feed with a ``FeedDefinition/limit``, which
    /// then reads all of its history.
    @discardableResult
    public func loadAll() async throws(FirestoreError) -> [FeedItem] { try await loadMore(.max) }

    /// Syncs the feed. Calls during a sync share it. Only the changed items of the window are read
    /// again.
    ///
    /// - Throws: The error of the server or the disk. Received pages are kept, and the next sync
    ///   continues after them.
    @discardableResult
    public func sync() async throws(FirestoreError) -> FeedSync {
        try Self.result(await synced { .sync($0) })
    }

    /// Syncs the feed for a reason with its own budget, for example a push that names the feed's
    /// context. After a push the system lets an app run for some seconds.
    ///
    /// ```swift
    /// let sync = try await feed.sync(because: .push)
    /// if sync.isCut { print("the rest comes when the feed is opened") }
    /// ```
    ///
    /// The reads are counted under the reason's label, for which the app can set a `ReadBudget`. A
    /// call that joins a sync of an opened feed costs as much as that sync.
    ///
    /// - Parameter reason: The reason of the sync.
    /// - Returns: The result. ``FeedSync/isCut`` is true if the maximum number of reads was not
    ///   enough. Received items are kept and shown.
    /// - Throws: The error of the server or the disk; `resourceExhausted` if the label's budget is
    ///   used up.
    @discardableResult
    public func sync(because reason: SyncReason) async throws(FirestoreError) -> FeedSync {
        let outcome = await ReadTag.with(label: reason.label) {
            await self.synced { .syncWithin(reads: reason.maxReads, $0) }
        }
        return try Self.result(outcome)
    }
}

/// The reason to sync a feed that is not shown, and the maximum cost.
public struct SyncReason: Hashable, Sendable {
    /// The label under which the reads are counted.
    public let label: String
    /// The maximum number of reads of one sync. The read of a shared mark is included.
    public let maxReads: Int

    /// - Parameters:
    ///   - label: The label under which the reads are counted.
    ///   - maxReads: The maximum number of reads of one sync, at least 1.
    public init(label: String, maxReads: Int) {
        precondition(maxReads > 0)
        self.label = label
        self.maxReads = maxReads
    }

    /// A push that names the feed's context: 100 reads, counted under `push`.
    public static let push = SyncReason(label: "push", maxReads: 100)
}

extension Feed {
    /// Reads everything that is missing, and then listens and keeps the feed up to date. It
    /// continues until ``stopListening()`` is called or the feed is released. ``states`` reports
    /// the changes.
    ///
    /// Cost with change times: the changes since the last read and those of the overlap, instead of
    /// a sync. If the feed listened within the last 30 minutes, only the changes. Afterwards each
    /// change costs a read. Cost with item times: a sync, then the newest item again and each new
    /// item. Cost with audits: a sync, then the newest ``FeedDefinition/pageSize`` items once more
    /// and each change of them; the next sync finds changes below them. A shared mark costs one
    /// read, and one per change.
    ///
    /// The listener is bounded: if there are more changes than a page, the feed reads pages and
    /// then listens again above them. A feed with a ``FeedDefinition/limit`` counts the changes
    /// after an absence of three days or more, for one read, and then costs at most its limit and
    /// one. A shorter absence costs at most twice the limit. A failure is shown as the phase. It is
    /// retried after 1 s, 2 s and so on, up to a minute.
    public func startListening() {
        tag = .current
        step(.live(true))
    }

    /// Listens like ``startListening()``, and returns when the feed is up to date. If the listener
    /// reports everything that a ``sync()`` would request, this takes one round trip and reads
    /// nothing twice.
    ///
    /// - Throws: The error of ``sync()``; the feed still listens afterwards.
    @discardableResult
    package func comeLive() async throws(FirestoreError) -> FeedSync {
        try Self.result(await synced { .comeLive($0) })
    }

    /// Stops listening. The progress is stored, and the next start continues from it.
    public func stopListening() { step(.live(false)) }

    /// Hides every item up to `time` permanently; nil for all items that are shown now. Works
    /// offline.
    ///
    /// - Returns: The new mark. A time ahead of the server's time is replaced by that time. While
    ///   the server's time is unknown, the mark moves to `time`, and moves back when the server
    ///   answers.
    @discardableResult
    public func clear(through time: Timestamp? = nil) async throws(FirestoreError) -> Marks.Move? {
        try await move(.action, to: time.map { .time($0) } ?? .newest)
    }

    /// Marks every item up to `time` as seen; nil for all items that are shown now.
    @discardableResult
    public func markConsumed(
        through time: Timestamp? = nil
    ) async throws(FirestoreError) -> Marks.Move? {
        try await move(.consumption, to: time.map { .time($0) } ?? .newest)
    }

    /// Clears like ``clear(through:)``, with milliseconds since 1970. A negative mark is invalid
    /// and resets the mark.
    @discardableResult
    public func clear(
        throughMilliseconds milliseconds: Int64
    ) async throws(FirestoreError) -> Marks.Move? {
        try await move(.action, to: .milliseconds(milliseconds))
    }

    /// Marks items as seen like ``markConsumed(through:)``, with milliseconds since 1970. A
    /// negative mark is invalid and resets the mark.
    @discardableResult
    public func markConsumed(
        throughMilliseconds milliseconds: Int64
    ) async throws(FirestoreError) -> Marks.Move? {
        try await move(.consumption, to: .milliseconds(milliseconds))
    }

    private func move(
        _ name: Marks.Name, to target: Machine.MarkTarget
    ) async throws(FirestoreError) -> Marks.Move? {
        let outcome = try await call { .move(name, to: target, $0) }
        guard case .moved(let move) = outcome else { return nil }
        return move
    }
}

// MARK: - The shell of the machine

extension Feed {
    private static let cancelled = FirestoreError(.cancelled, "The task was cancelled.")

    /// Waits for the outcome of a call. If the task is cancelled, the function throws `cancelled`
    /// immediately, and the started work continues.
    private func call(
        _ event: (Machine.CallID) -> Machine.Event
    ) async throws(FirestoreError) -> Machine.Outcome {
        let outcome = await outcome(event)
        if case .failed(let error) = outcome { throw error }
        return outcome
    }

    private static func result(
        _ outcome: Machine.Outcome
    ) throws(FirestoreError) -> FeedSync {
        switch outcome {
        case .synced(let result): return result
        case .failed(let error): throw error
        case .opened, .moved: return FeedSync()
        }
    }

    /// Waits for the outcome of a sync, and tells the observers.
    private func synced(_ event: (Machine.CallID) -> Machine.Event) async -> Machine.Outcome {
        let isFirst = observing.withLock { $0.begin() }
        let began = ContinuousClock.now
        let outcome = await outcome(event)
        let observers = observing.withLock { observing in
            observing.end()
            return observing
        }
        guard isFirst, !observers.receivers.isEmpty else { return outcome }
        let result: Result<FeedSync, FirestoreError>
        do throws(FirestoreError) { result = .success(try Self.result(outcome)) } catch {
            result = .failure(error)
        }
        observers.notify(result, after: ContinuousClock.now - began)
        return outcome
    }

    /// Tells an observer about the feed's syncs and marks from now on. The reads of a listener
    /// after its first answer are not among them: the client's read meter counts these.
    ///
    /// - Parameters:
    ///   - observer: The receiver.
    ///   - context: The name of the feed; nil for the path of its query, with `*` for documents.
    public nonisolated func observe(_ observer: Observer, as context: String? = nil) {
        observing.withLock { $0.add(observer, context ?? self.context) }
    }

    private func outcome(_ event: (Machine.CallID) -> Machine.Event) async -> Machine.Outcome {
        lastCall += 1
        let call = lastCall
        tag = .current
        let event = event(call)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                calls[call] = continuation
                if Task.isCancelled { return finish(call, .failed(Self.cancelled)) }
                step(event)
            }
        } onCancel: {
            Task { await finish(call, .failed(Self.cancelled)) }
        }
    }

    private func step(_ event: Machine.Event) {
        for effect in machine.step(event, now: DeviceTime(environment)) {
            switch effect {
            case .publish: publish()
            case .notify(let event): notify(event)
            case .finish(let call, let outcome): finish(call, outcome)
            default: performer.perform(effect, tag: tag, report)
            }
        }
        if isLive {
            for waiter in liveWaiters { waiter.finish() }
            liveWaiters = []
        }
    }

    /// Receives the results of effects, in the order in which the engine reports them. Separate
    /// tasks could take a listener's snapshots in another order.
    private nonisolated var report: FeedPerformer<QueryDocumentSnapshot>.Report {
        { [weak self, results] event in
            guard results.add(event) else { return }
            Task { await self?.takeResults() }
        }
    }

    private func takeResults() {
        var events = results.take()
        while !events.isEmpty {
            for event in events { step(event) }
            events = results.take()
        }
    }

    private func finish(_ call: Machine.CallID, _ outcome: Machine.Outcome) {
        calls.removeValue(forKey: call)?.resume(returning: outcome)
    }

    /// The present state and each later state; a slow loop skips to the newest. It does not open
    /// the feed.
    public nonisolated var states: FeedStates { FeedStates(feed: self) }

    func watch() -> AsyncStream<NumberedFeedState> {
        let (stream, input) = AsyncStream.makeStream(
            of: NumberedFeedState.self, bufferingPolicy: .bufferingNewest(1))
        let number = nextWatcher
        nextWatcher += 1
        watchers[number] = input
        input.onTermination = { [weak self] _ in Task { await self?.unwatch(number) } }
        input.yield(numberedState)
        return stream
    }

    private func unwatch(_ number: Int) {
        watchers[number] = nil
        observers[number] = nil
    }

    /// Returns the events of the feed's marks and reads from now on, for a log or a counter. If
    /// more than 1,000 events are waiting, the oldest are dropped.
    public func events() -> AsyncStream<FeedEvent> {
        let (stream, input) = AsyncStream.makeStream(
            of: FeedEvent.self, bufferingPolicy: .bufferingNewest(1_000))
        let number = nextWatcher
        nextWatcher += 1
        observers[number] = input
        input.onTermination = { [weak self] _ in Task { await self?.unwatch(number) } }
        return stream
    }

    private func notify(_ event: FeedEvent) {
        if case .foundByAudit(let count) = event, let changeTime {
            FeedAdvice.notify(hidden: count, in: changeTime.collection, by: changeTime.field)
        }
        FeedMetrics.count(event)
        FeedLog.note(event, of: context)
        observing.withLock { observing in
            observing.hear(event)
            return observing
        }.notifyMoved(event)
        for observer in observers.values { observer.yield(event) }
    }

    private func publish() {
        state = FeedState(machine.shown)
        stateNumber += 1
        for watcher in watchers.values { watcher.yield(numberedState) }
    }

    private var numberedState: NumberedFeedState {
        NumberedFeedState(number: stateNumber, state: state)
    }
}
