public import Tidemark

/// One feed over a collection: opened from disk at once, then brought up to date at the price of
/// what changed.
///
/// It shows a window: the newest ``FeedDefinition/window`` items of what the device holds, so that
/// opening costs what a screen shows, however much is held. ``loadMore(_:)`` makes it longer.
///
/// A feed is of the user in whose time it was made: after a change of the user its calls throw
/// `cancelled`, and the next user's feed is another one.
///
/// Nothing is missed and nothing shown twice, as far as the feed's ``FeedDefinition/Way`` goes. All
/// times are the server's; the device's clock plays no part, but for how old a feed is said to be before
/// the server has answered.
public actor Feed {
    typealias Machine = FeedMachine<QueryDocumentSnapshot>

    private let performer: FeedPerformer<QueryDocumentSnapshot>
    private let environment: SyncEnvironment
    private var machine: Machine
    private var calls: [Machine.CallID: CheckedContinuation<Machine.Outcome, Never>] = [:]
    private var lastCall = 0
    /// Of the last call that asked for something.
    private var tag = ReadTag()
    private var watchers: [Int: AsyncStream<NumberedFeedState>.Continuation] = [:]
    private var observers: [Int: AsyncStream<FeedEvent>.Continuation] = [:]
    private var nextWatcher = 0
    public private(set) var state: FeedState
    /// How many states there were before the present one.
    private(set) var stateNumber = 0

    /// - Throws: `invalidArgument` when the definition makes no sense.
    public init(_ definition: FeedDefinition) throws(FirestoreError) {
        let parsed = try ParsedDefinition(definition)
        let firestore = definition.query.firestore
        performer = FeedPerformer(
            parsed, firestore.engine.session, in: firestore.databaseID,
            deadline: firestore.readDeadline, content: { firestore.cachedSnapshot(of: $0) })
        environment = firestore.environment
        machine = Machine(parsed.settings)
        state = FeedState(machine.shown)
        performer.followOwn { [weak self] event in
            Task { await self?.step(event) }
        }
    }

    deinit { performer.close() }

    public var items: [FeedItem] { state.items }
    public var unreadCount: Int { state.unreadCount }
    /// Its marks, once it has been opened; see ``Pager/setMarks(_:)``.
    public var marks: Marks { machine.marks }
    /// What the device knows that it holds completely.
    public var coverage: Coverage { machine.progress.coverage }
    /// What the next ``sync()`` will ask, what it costs, and why. Asks nothing.
    public var plan: ReadPlan { machine.plan(at: DeviceTime(environment)) }
    /// What happened to its marks and reads, since it was made.
    public var counters: FeedCounters { machine.counters }
    /// True if a listener keeps it up to date.
    var isListening: Bool { machine.live.listen != nil }
    /// True if it listens and the server has answered the listener.
    package var isLive: Bool { machine.live.listen != nil && machine.live.isConfirmed }
    /// Documents and index entries looked at to fill the window, since the start.
    package var rowsScanned: Int { machine.rowsScanned }

    /// Reads the window from what the device holds: the newest items, as many as it had before or
    /// as the definition says. Costs no reads; asks no server. It looks at the items it shows and
    /// at the marked deletes between them, and counts the unread where they go on below the window.
    @discardableResult
    public func open() async throws(FirestoreError) -> [FeedItem] {
        _ = try await call { .open($0) }
        return state.items
    }

    /// Opens as ``open()`` does, and returns when the rows of the window are shown. Unread items below
    /// the window may still be counted, which takes longer where many are held.
    package func openWindow() async throws(FirestoreError) {
        _ = try await call { .openWindow($0) }
    }

    /// Makes the window longer by the next `count` items that the device holds. Costs no reads, and
    /// asks no server, but in a feed with a ``FeedDefinition/limit``: what the device does not hold is
    /// read from the server, a page at a time, at a read for each item.
    ///
    /// - Returns: All items of the window.
    /// - Throws: What the server or the disk answered. What is shown stays, and the next call, or the
    ///   next sync, reads what is missing.
    @discardableResult
    public func loadMore(_ count: Int) async throws(FirestoreError) -> [FeedItem] {
        guard count > 0 else {
            throw .invalidArgument("At least 1 more item can be loaded, not \(count).")
        }
        _ = try await call { .loadMore(count, $0) }
        return state.items
    }

    /// Makes the window as long as the feed, now and as it grows. Costs no reads, but in a feed with a
    /// ``FeedDefinition/limit``, which reads all of its history; and time and memory for all of it.
    @discardableResult
    public func loadAll() async throws(FirestoreError) -> [FeedItem] { try await loadMore(.max) }

    /// Brings the feed up to date. Calls made while one runs share it. Of the window only what
    /// changed is read again.
    ///
    /// - Throws: What the server or the disk answered. What had arrived by then is kept, and the
    ///   next sync goes on from there.
    @discardableResult
    public func sync() async throws(FirestoreError) -> FeedSync {
        guard case .synced(let result) = try await call({ .sync($0) }) else { return FeedSync() }
        return result
    }

    /// Brings the feed up to date for a reason that has a budget of its own: for example a push that
    /// names its context, of which the system lets an app do something for some seconds.
    ///
    /// ```swift
    /// let sync = try await feed.sync(because: .push)
    /// if sync.isCut { print("the rest comes when the feed is opened") }
    /// ```
    ///
    /// Its reads are counted under the reason's label, for which the app may set a `ReadBudget`. A call
    /// that joins a sync of an opened feed costs what that costs.
    ///
    /// - Parameter reason: What it is for.
    /// - Returns: What it came to; ``FeedSync/isCut`` where the reads were not enough. What arrived is
    ///   kept, and shown.
    /// - Throws: What the server or the disk answered; `resourceExhausted` where the label's budget is
    ///   used up.
    @discardableResult
    public func sync(because reason: SyncReason) async throws(FirestoreError) -> FeedSync {
        let outcome = await ReadTag.with(label: reason.label) {
            await self.outcome { .syncWithin(reads: reason.maxReads, $0) }
        }
        switch outcome {
        case .synced(let result): return result
        case .failed(let error): throw error
        case .opened, .moved: return FeedSync()
        }
    }
}

/// Why a feed is brought up to date while nobody looks at it, and what that may cost.
public struct SyncReason: Hashable, Sendable {
    /// Under which its reads are counted.
    public let label: String
    /// Reads of one sync at the most; a shared mark is one of them.
    public let maxReads: Int

    /// - Parameters:
    ///   - label: Under which its reads are counted.
    ///   - maxReads: Reads of one sync at the most, at least 1.
    public init(label: String, maxReads: Int) {
        precondition(maxReads > 0)
        self.label = label
        self.maxReads = maxReads
    }

    /// A push that names the feed's context: 100 reads, counted under `push`.
    public static let push = SyncReason(label: "push", maxReads: 100)
}

extension Feed {
    /// Keeps the feed up to date by listening, once everything that is missing has been read, until
    /// ``stopListening()`` or the feed goes. What it shows comes with ``states``.
    ///
    /// Costs: by change time, what changed since the last read and the overlap, in place of a sync,
    /// or only what changed where it listened within the last 30 minutes; then a read for each
    /// change. By item time a sync, then the newest item again and each new one. With audits a sync,
    /// then the ``FeedDefinition/pageSize`` newest once more and each change to them; what happens
    /// below them is found by the next sync. A shared mark costs one read, and one a change.
    ///
    /// Bounded: where more changes than a page of them it reads pages, and listens anew above them. A feed
    /// with a ``FeedDefinition/limit`` counts the changes of an absence of three days or more at one read,
    /// and costs its limit and one at the most. A shorter absence costs at most twice its limit. A
    /// failure is shown as the phase, and tried again after 1 s, 2 s and so on up to a minute.
    public func startListening() {
        tag = .current
        step(.live(true))
    }

    /// Listens as ``startListening()`` does, and returns when the feed is up to date. If the listener
    /// reports what a ``sync()`` would request, this takes one round trip and reads nothing twice.
    ///
    /// - Throws: As ``sync()``, after which it goes on listening.
    @discardableResult
    package func comeLive() async throws(FirestoreError) -> FeedSync {
        guard case .synced(let result) = try await call({ .comeLive($0) }) else {
            return FeedSync()
        }
        return result
    }

    /// No longer. What is known by now is stored, so that the next time can go on from there.
    public func stopListening() { step(.live(false)) }

    /// Hides every item up to `time`, for good; nil for all that is shown now. Works offline.
    ///
    /// - Returns: Where the mark went; one ahead of the server's time is moved to that instead. Before
    ///   anything is known of that time it goes where it was told, and back when the server answers.
    @discardableResult
    public func clear(through time: Timestamp? = nil) async throws(FirestoreError) -> Marks.Move? {
        try await move(.action, to: time.map { .time($0) } ?? .newest)
    }

    /// Remembers that the user has seen every item up to `time`; nil for all that is shown now.
    @discardableResult
    public func markConsumed(
        through time: Timestamp? = nil
    ) async throws(FirestoreError) -> Marks.Move? {
        try await move(.consumption, to: time.map { .time($0) } ?? .newest)
    }

    /// As ``clear(through:)``, in milliseconds since 1970; a negative mark is invalid and is reset.
    @discardableResult
    public func clear(
        throughMilliseconds milliseconds: Int64
    ) async throws(FirestoreError) -> Marks.Move? {
        try await move(.action, to: .milliseconds(milliseconds))
    }

    /// As ``markConsumed(through:)``, in milliseconds since 1970; a negative mark is invalid and is
    /// reset.
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

    /// Waits for what becomes of a call. When the task is cancelled it throws `cancelled` at once;
    /// what was begun goes on.
    private func call(
        _ event: (Machine.CallID) -> Machine.Event
    ) async throws(FirestoreError) -> Machine.Outcome {
        let outcome = await outcome(event)
        if case .failed(let error) = outcome { throw error }
        return outcome
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
            case .tell(let event): tell(event)
            case .finish(let call, let outcome): finish(call, outcome)
            default:
                performer.perform(effect, tag: tag) { [weak self] event in
                    Task { await self?.step(event) }
                }
            }
        }
    }

    private func finish(_ call: Machine.CallID, _ outcome: Machine.Outcome) {
        calls.removeValue(forKey: call)?.resume(returning: outcome)
    }

    /// The feed now and as it changes; a slow loop skips to the newest. Opens nothing by itself.
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

    /// What happens to its marks and reads from now on, to be logged or counted; of more than 1,000
    /// that wait the oldest go.
    public func events() -> AsyncStream<FeedEvent> {
        let (stream, input) = AsyncStream.makeStream(
            of: FeedEvent.self, bufferingPolicy: .bufferingNewest(1_000))
        let number = nextWatcher
        nextWatcher += 1
        observers[number] = input
        input.onTermination = { [weak self] _ in Task { await self?.unwatch(number) } }
        return stream
    }

    private func tell(_ event: FeedEvent) {
        FeedMetrics.count(event)
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
