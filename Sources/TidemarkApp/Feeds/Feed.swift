public import Tidemark

/// One feed over a collection: opened from disk at once, then brought up to date at the price of what
/// changed.
///
/// Nothing is missed and nothing shown twice under inserts, late arrivals, equal times, edits, marked
/// deletes and clears. All times are the server's; the device's clock plays no part.
public actor Feed {
    /// Pages that one sync asks for at the most. A feed with more behind goes on at the next sync.
    static let maxPages = 10_000

    private let store: FeedStore
    private let deadline: Duration?
    private var marks = Marks()
    private var progress: FeedProgress
    private var isOpen = false
    /// What is held, newest first, cleared items too.
    private var held: [FeedItem] = []
    private var serverTime = ServerTime()
    private var running: Task<Result<FeedSync, FirestoreError>, Never>?
    private var watchers: [Int: AsyncStream<FeedState>.Continuation] = [:]
    private var nextWatcher = 0
    public private(set) var state = FeedState(items: [], phase: .loading)

    /// - Throws: `invalidArgument` when the definition makes no sense.
    public init(_ definition: FeedDefinition) throws(FirestoreError) {
        let parsed = try ParsedDefinition(definition)
        let firestore = definition.query.firestore
        store = FeedStore(firestore: firestore, definition: parsed)
        deadline = firestore.settings.readDeadline
        progress = FeedProgress(overlap: parsed.overlap)
    }

    public var items: [FeedItem] { state.items }
    public var unreadCount: Int { state.unreadCount }
    /// What the device knows that it holds completely.
    public var coverage: Coverage { progress.coverage }

    /// What the next ``sync()`` will ask, what it costs, and why. Asks nothing.
    public var plan: ReadPlan {
        ReadPlanner.plan(progress, action: marks.action, pageSize: store.definition.pageSize)
    }

    /// Reads what the device holds. Costs no reads; asks no server.
    @discardableResult
    public func open() async throws(FirestoreError) -> [FeedItem] {
        if !isOpen {
            let (marks, progress) = (try await store.marks(), try await store.progress())
            // Another call may have opened it meanwhile, and gone on from there.
            if !isOpen {
                self.marks.merge(marks)
                self.progress = progress
                isOpen = true
            }
        }
        try await show()
        return state.items
    }

    /// Brings the feed up to date. Calls made while one runs share it.
    ///
    /// - Throws: What the server or the disk answered. What had arrived by then is kept, and the next
    ///   sync goes on from there.
    @discardableResult
    public func sync() async throws(FirestoreError) -> FeedSync {
        let task = running ?? Task { await run() }
        running = task
        return try await task.value.get()
    }

    private func run() async -> Result<FeedSync, FirestoreError> {
        defer { running = nil }
        do throws(FirestoreError) {
            if !isOpen { try await open() }
            var result = FeedSync()
            repeat {
                try await step(&result)
            } while progress.cursor.drain != nil
                && result.plans.count < Self.maxPages
            result.readTime = progress.cursor.readTime
            try await show()
            return .success(result)
        } catch {
            state.phase = .failed(error)
            publish()
            return .failure(error)
        }
    }

    /// One page. Nothing moves forward unless it has arrived and is stored.
    private func step(_ result: inout FeedSync) async throws(FirestoreError) {
        let plan = plan
        result.plans.append(plan)
        let page = try await store.fetch(
            plan, progress, action: marks.action, within: deadline)
        progress = page.progress
        result.reads += max(1, page.rows)
        result.changed += page.changed
        let readTime = progress.cursor.drain?.readTime ?? progress.cursor.readTime
        if let readTime { serverTime.learn(readTime, deviceNow: store.now()) }
    }
}

extension Feed {
    /// Hides every item up to `time`, for good; nil for all that is shown now. Works offline.
    ///
    /// - Returns: Where the mark went; one ahead of the server's time is moved to that instead.
    @discardableResult
    public func clear(through time: Timestamp? = nil) async throws(FirestoreError) -> Marks.Move? {
        try await move(.action, to: time ?? state.items.first?.time)
    }

    /// Remembers that the user has seen every item up to `time`; nil for all that is shown now.
    @discardableResult
    public func markConsumed(
        through time: Timestamp? = nil
    ) async throws(FirestoreError) -> Marks.Move? {
        try await move(.consumption, to: time ?? state.items.first?.time)
    }

    /// As ``clear(through:)``, in milliseconds since 1970; a negative mark is invalid and is reset.
    @discardableResult
    public func clear(
        throughMilliseconds milliseconds: Int64
    ) async throws(FirestoreError) -> Marks.Move? {
        if !isOpen { try await open() }
        return try await keep(
            marks.move(.action, toMilliseconds: milliseconds, serverNow: serverNow))
    }

    /// As ``markConsumed(through:)``, in milliseconds since 1970; a negative mark is invalid and is
    /// reset.
    @discardableResult
    public func markConsumed(
        throughMilliseconds milliseconds: Int64
    ) async throws(FirestoreError) -> Marks.Move? {
        if !isOpen { try await open() }
        return try await keep(
            marks.move(.consumption, toMilliseconds: milliseconds, serverNow: serverNow))
    }

    private func move(
        _ name: Marks.Name, to time: Timestamp?
    ) async throws(FirestoreError) -> Marks.Move? {
        if !isOpen { try await open() }
        guard let time else { return nil }
        return try await keep(marks.move(name, to: time, serverNow: serverNow))
    }

    /// The server's time as far as responses have told it; the device's clock only measures how long
    /// ago that was.
    private var serverNow: Timestamp? {
        serverTime.estimate(deviceNow: store.now()) ?? progress.cursor.readTime
    }

    /// Shows a mark's move at once and stores it.
    private func keep(_ move: Marks.Move) async throws(FirestoreError) -> Marks.Move {
        arrange()
        publish()
        try await store.save(marks)
        return move
    }
}

extension Feed {
    /// The feed now and as it changes; a slow loop skips to the newest. Opens nothing by itself.
    public nonisolated var states: FeedStates { FeedStates(feed: self) }

    func watch() -> AsyncStream<FeedState> {
        let (stream, input) = AsyncStream.makeStream(
            of: FeedState.self, bufferingPolicy: .bufferingNewest(1))
        let number = nextWatcher
        nextWatcher += 1
        watchers[number] = input
        input.onTermination = { [weak self] _ in Task { await self?.unwatch(number) } }
        input.yield(state)
        return stream
    }

    private func unwatch(_ number: Int) { watchers[number] = nil }

    private func publish() {
        for watcher in watchers.values { watcher.yield(state) }
    }

    /// Reads what is held, and shows it.
    private func show() async throws(FirestoreError) {
        held = try await store.held()
        arrange()
        if let readTime = progress.cursor.readTime, readTime == serverTime.lastReadTime {
            state.phase = .fresh(readTime: readTime)
        } else {
            // Without an answer of this launch only the device's clock could tell the age.
            let readTime = progress.cursor.readTime
            state.phase = .stale(age: readTime.map { max(.zero, store.now().duration(since: $0)) })
        }
        publish()
    }

    /// Applies the marks to what is held.
    private func arrange() {
        state.items = held.compactMap { item in
            if let action = marks.action, item.time <= action { return nil }
            var item = item
            item.isUnread = marks.consumption.map { item.time > $0 } ?? true
            return item
        }
    }
}

/// A feed now and as it changes.
public struct FeedStates: AsyncSequence, Sendable {
    public typealias Element = FeedState
    public typealias Failure = Never

    let feed: Feed

    public struct AsyncIterator: AsyncIteratorProtocol {
        let feed: Feed
        var states: AsyncStream<FeedState>.Iterator?

        public mutating func next(
            isolation: isolated (any Actor)? = #isolation
        ) async -> FeedState? {
            var states = if let states { states } else { await feed.watch().makeAsyncIterator() }
            let state = await states.next(isolation: isolation)
            self.states = states
            return state
        }
    }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(feed: feed) }
}
