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
/// Nothing is missed and nothing shown twice under inserts, late arrivals, equal times, edits,
/// marked deletes and clears. All times are the server's; the device's clock plays no part.
public actor Feed {
    /// Pages that one sync asks for at the most. A feed with more behind goes on at the next sync.
    static let maxPages = 10_000

    private let store: FeedStore
    private let deadline: Duration?
    private var marks = Marks()
    private var progress: FeedProgress
    private var isOpen = false
    private var hasIndexes = false
    private var window: FeedWindow
    /// Counts the changes of the window and the marks, so that what was read from disk meanwhile is
    /// known to be old.
    private var version = 0
    /// Documents and index entries looked at to fill the window, since the start.
    package private(set) var rowsScanned = 0
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
        deadline = firestore.readDeadline
        progress = FeedProgress(overlap: parsed.overlap)
        window = FeedWindow(size: parsed.window)
    }

    public var items: [FeedItem] { state.items }
    public var unreadCount: Int { state.unreadCount }
    /// What the device knows that it holds completely.
    public var coverage: Coverage { progress.coverage }

    /// What the next ``sync()`` will ask, what it costs, and why. Asks nothing.
    public var plan: ReadPlan {
        ReadPlanner.plan(progress, action: marks.action, pageSize: store.definition.pageSize)
    }

    /// Reads the window from what the device holds: the newest items, as many as it had before or
    /// as the definition says. Costs no reads; asks no server. It looks at the items it shows and
    /// at the marked deletes between them, and counts the unread where they go on below the window.
    @discardableResult
    public func open() async throws(FirestoreError) -> [FeedItem] {
        if !isOpen {
            let (marks, progress) = (try await store.marks(), try await store.progress())
            // Another call may have opened it meanwhile, and gone on from there.
            if !isOpen {
                self.marks.merge(marks)
                self.progress = progress
                version += 1
                isOpen = true
            }
        }
        try await fill(anew: true)
        return state.items
    }

    /// Makes the window longer by the next `count` items that the device holds. Costs no reads;
    /// asks no server.
    ///
    /// - Returns: All items of the window.
    @discardableResult
    public func loadMore(_ count: Int) async throws(FirestoreError) -> [FeedItem] {
        guard count > 0 else {
            throw .invalidArgument("At least 1 more item can be loaded, not \(count).")
        }
        if !isOpen { try await open() }
        window.grow(by: count)
        version += 1
        try await fill()
        return state.items
    }

    /// Makes the window as long as the feed, now and as it grows. Costs no reads, and time and
    /// memory for all that the device holds.
    @discardableResult
    public func loadAll() async throws(FirestoreError) -> [FeedItem] { try await loadMore(.max) }

    /// Brings the feed up to date. Calls made while one runs share it. Of the window only what
    /// changed is read again.
    ///
    /// - Throws: What the server or the disk answered. What had arrived by then is kept, and the
    ///   next sync goes on from there.
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
            if !hasIndexes {
                // Before the first documents come, so that they are indexed as they are stored.
                try await store.declareIndexes()
                hasIndexes = true
            }
            var result = FeedSync()
            repeat {
                try await step(&result)
            } while progress.cursor.drain != nil
                && result.plans.count < Self.maxPages
            result.readTime = progress.cursor.readTime
            try await fill()
            return .success(result)
        } catch {
            show()
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
        result.changed += page.changed.count
        let readTime = progress.cursor.drain?.readTime ?? progress.cursor.readTime
        if let readTime { serverTime.learn(readTime, deviceNow: store.now()) }
        try await apply(page.changed)
    }
}

// MARK: - The window

extension Feed {
    /// Reads from disk what the window lacks, and shows it.
    ///
    /// - Parameter anew: Whether all of the window is read.
    private func fill(anew: Bool = false) async throws(FirestoreError) {
        try await fillWindow(anew: anew)
        show()
        let isFirst = state.phase == .loading
        state.phase = phase
        // The first content does not wait for the count.
        if isFirst, window.unreadCount == nil { publish() }
        try await countUnread()
        publish()
    }

    // In both loops, only another call that came through meanwhile makes this one go round again.

    private func fillWindow(anew: Bool) async throws(FirestoreError) {
        while true {
            let version = version
            var filled = anew ? FeedWindow(size: window.size) : window
            guard filled.hasMore else { return }
            let isWhole = filled.end?.isUnsettled ?? true
            let next = try await store.items(
                below: filled.end, first: isWhole ? filled.size : filled.room, marks)
            rowsScanned += next.rowsScanned
            // What changed meanwhile may be missing from what was read.
            guard version == self.version else { continue }
            filled.append(next.items, hasMore: next.hasMore)
            window = filled
            self.version += 1
            return
        }
    }

    private func countUnread() async throws(FirestoreError) {
        while window.unreadCount == nil {
            let version = version
            let count = try await store.unreadCount(marks)
            guard version == self.version else { continue }
            state.unreadCount = count
            return
        }
    }

    /// Applies to the window what became of documents, and of those with pending writes then and
    /// now.
    private func apply(_ paths: [DocumentPath]) async throws(FirestoreError) {
        while true {
            let version = version
            let pending = window.items.filter(\.hasPendingWrites).map(\.path)
            let changes = try await store.changes(at: paths + pending, marks)
            guard version == self.version else { continue }
            window.apply(changes)
            self.version += 1
            return
        }
    }

    /// Takes the window over into the state. The number of unread ones, where only the disk can tell
    /// it, stays, or is that of the window.
    private func show() {
        state.items = window.items
        state.hasMore = window.hasMore
        state.unreadCount =
            window.unreadCount ?? max(state.unreadCount, window.items.count(where: \.isUnread))
    }

    private var phase: FeedPhase {
        if let readTime = progress.cursor.readTime, readTime == serverTime.lastReadTime {
            return .fresh(readTime: readTime)
        }
        // Without an answer of this launch only the device's clock could tell the age.
        let readTime = progress.cursor.readTime
        return .stale(age: readTime.map { max(.zero, store.now().duration(since: $0)) })
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

    /// The server's time as far as responses have told it; the device's clock only measures how
    /// long ago that was.
    private var serverNow: Timestamp? {
        serverTime.estimate(deviceNow: store.now()) ?? progress.cursor.readTime
    }

    /// Shows a mark's move at once, stores it, and fills what it left free.
    private func keep(_ move: Marks.Move) async throws(FirestoreError) -> Marks.Move {
        window.apply(marks)
        version += 1
        show()
        publish()
        try await store.save(marks)
        // Without a mark, items come back that are above and between those of the window.
        try await fill(anew: move == .reset)
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
}
