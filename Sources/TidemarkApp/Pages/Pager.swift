import Synchronization
public import Tidemark

/// A collection in pages, newest first, of which the first is live: the messages of a conversation,
/// or the conversations themselves.
///
/// ```swift
/// let pager = try Pager(firestore.collection("rooms/blue/messages"), orderedBy: "sentAt")
/// for await state in pager.states {
///     show(state.chronological, isLoading: state.isLoadingMore)
/// }
/// pager.loadMore()  // from a button, or as the last row appears: never twice at once
/// ```
///
/// Every listener has a limit. There is no gap and no repeated row, regardless of arrivals, changes
/// and deletions; see ``PagerState/items``. Costs a read for each row of a page, and a read for
/// each later change in a page with a listener. The device's rows are shown before the server
/// answers.
///
/// Cleared rows do not return: pass the marks of the conversation's ``Feed``, or call
/// ``follow(_:)`` with the feed.
///
/// With ``PagesFromDisk``, older pages come from disk if the device has them completely, with no
/// reads and no listener.
public final class Pager: Sendable {
    private typealias Machine = PageMachine<QueryDocumentSnapshot>

    private struct State {
        private var machine: Machine
        /// The present state, computed once for all callers, because it costs a pass over the rows.
        private(set) var shown: PagerState
        var registrations: [Int: any ListenerRegistration] = [:]
        var watchers: [Int: AsyncStream<PagerState>.Continuation] = [:]
        var lastWatcher = 0
        var hasStarted = false
        var isClosed = false
        /// The time of the user's clear mark.
        var cleared: Timestamp?

        init(_ machine: Machine) {
            self.machine = machine
            shown = PagerState(machine, confirmed: nil)
        }

        /// - Parameter readTime: The time of the server's snapshot in the event, if there is one.
        mutating func step(_ event: Machine.Event, readTime: Timestamp?) -> [Machine.Effect] {
            let effects = machine.step(event)
            let confirmed = machine.isFromCache ? nil : readTime
            shown = PagerState(machine, confirmed: confirmed ?? shown.confirmed)
            return effects
        }
    }

    private let query: Query
    private let order: FieldPath
    let pageSize: Int
    let maxRows: Int
    let disk: ParsedPagesFromDisk?
    /// The pages on disk; nil if every page is a listener.
    let store: PageStore?
    private let state: Mutex<State>
    private let following = Mutex<Task<Void, Never>?>(nil)

    /// - Parameters:
    ///   - query: The query, without an order, a limit or a cursor: the pager sets them.
    ///   - field: The field that orders the rows, the greatest value first. Documents without the
    ///     field are not shown.
    ///   - pageSize: The rows of a page, 1 to 1,000.
    ///   - pages: The conditions for older pages from disk. With them, the field must be a time.
    ///   - maxRows: The maximum number of held rows, up to 1,000,000. At the maximum, there are no
    ///     more pages, and rows that arrive at the head remove the oldest.
    ///   - marks: The user's marks: cleared rows are neither read nor shown. With marks, the field
    ///     must be a time.
    /// - Throws: `invalidArgument` if the arguments do not fit together.
    public init(
        _ query: Query, orderedBy field: some FieldName, pageSize: Int = 50,
        pagesFromDisk pages: PagesFromDisk = .never, maxRows: Int = 100_000, marks: Marks = Marks()
    ) throws(FirestoreError) {
        guard (1...1_000).contains(pageSize) else {
            throw .invalidArgument("A page must have 1 to 1,000 rows, not \(pageSize).")
        }
        guard (pageSize...1_000_000).contains(maxRows) else {
            throw .invalidArgument(
                """
                A pager must hold between one page and 1,000,000 rows, not \(maxRows).
                """)
        }
        let value = try query.runnable()
        guard value.orders.isEmpty, value.limit == nil, value.start == nil, value.end == nil else {
            throw .invalidArgument("The query of a pager must have no order, limit or cursor.")
        }
        let order = try field.resolved()
        self.pageSize = pageSize
        self.maxRows = maxRows
        self.order = order
        let disk = try ParsedPagesFromDisk(pages)
        self.disk = disk
        store = disk.map { PageStore(query.firestore, query: value, order: order, disk: $0) }
        let ordered = query.order(by: order, descending: true)
        // Only for times can the pager know a range completely.
        self.query = try disk == nil ? ordered : ordered.times()
        state = Mutex(
            State(Machine(pageSize: pageSize, loadsPages: disk != nil, maxRows: maxRows)))
        setMarks(marks)
    }

    deinit {
        following.withLock { $0?.cancel() }
        close()
    }

    /// Hides cleared rows immediately. They do not return from disk, from the server, or with a
    /// page that is being read. The mark only moves forward. The consumption mark has no effect.
    ///
    /// - Parameter marks: The marks, for example ``Feed/marks``.
    public func setMarks(_ marks: Marks) {
        guard let action = marks.action else { return }
        state.withLock { state in state.cleared = max(state.cleared ?? action, action) }
        store?.clear(through: action)
        step(.cleared(action))
    }

    /// Uses the marks of a feed, now and after each move, including moves of the user's other
    /// devices. Opens the feed from disk, and does not update it.
    ///
    /// Returns after the earlier clears of this device are known: call it before ``start()``, so
    /// the pager does not read cleared rows.
    ///
    /// - Parameter feed: The feed of the same items.
    /// - Throws: The error of the disk.
    public func follow(_ feed: Feed) async throws(FirestoreError) {
        try await feed.open()
        setMarks(await feed.marks)
        let states = feed.states
        let task = Task { [weak self] in
            for await _ in states {
                guard let self else { return }
                self.setMarks(await feed.marks)
            }
        }
        following.withLock { old in
            old?.cancel()
            old = task
        }
    }

    /// The query for all rows, without a limit.
    var pagedQuery: Query { query }
    var orderField: FieldPath { order }

    /// The present state and each later state. The first call begins to listen. A slow reader skips
    /// to the newest state.
    public var states: AsyncStream<PagerState> {
        let (states, continuation) = AsyncStream.makeStream(
            of: PagerState.self, bufferingPolicy: .bufferingNewest(1))
        let isNew = state.withLock { state in
            if state.isClosed { return false }
            state.lastWatcher += 1
            let number = state.lastWatcher
            state.watchers[number] = continuation
            // The removal runs in a separate task, as in `Watchers`: a step resumes readers within
            // the lock.
            continuation.onTermination = { [weak self] _ in Task { self?.unwatch(number) } }
            continuation.yield(state.shown)
            return true
        }
        if !isNew { continuation.finish() }
        start()
        return states
    }

    /// The present state.
    public var current: PagerState { state.withLock { $0.shown } }

    /// Begins to listen to the newest page; ``states`` also begins to listen.
    public func start() {
        let isFirst = state.withLock { state in
            defer { state.hasStarted = true }
            return !state.hasStarted
        }
        guard isFirst else { return }
        step(.start)
        // Without a server, the device's rows are shown unchanged.
        guard let store else { return }
        store.followOwn { [weak self] changes in self?.step(.changed(changes)) }
        Task { [weak self] in
            guard let isHeld = try? await store.hasEarlierPages(), isHeld else { return }
            try? await self?.refresh()
        }
    }

    /// Reads the changes in the pages that came from disk, for
    /// ``PagesFromDisk/keptRight(changeTime:deletedField:)``. The pager also does this once at its
    /// begin. Costs a read for each change, at least one.
    ///
    /// - Throws: The error of the server or the disk; the next call repeats the request.
    public func refresh() async throws(FirestoreError) {
        guard let store else { return }
        step(.changed(try await store.changes()))
    }

    /// Requests the next older page, or again a page that failed. Does nothing while a page is
    /// loading, or if there are no more pages.
    public func loadMore() {
        start()
        step(.loadMore)
    }

    /// Ends all listeners and ``states``.
    public func close() {
        let (registrations, watchers) = state.withLock { state in
            state.isClosed = true
            defer { (state.registrations, state.watchers) = ([:], [:]) }
            return (Array(state.registrations.values), Array(state.watchers.values))
        }
        for registration in registrations { registration.remove() }
        store?.close()
        for watcher in watchers { watcher.finish() }
    }

    private func unwatch(_ number: Int) {
        state.withLock { _ = $0.watchers.removeValue(forKey: number) }
    }

    private func step(_ event: Machine.Event, readTime: Timestamp? = nil) {
        let effects = state.withLock { state in
            if state.isClosed { return [Machine.Effect]() }
            let effects = state.step(event, readTime: readTime)
            for watcher in state.watchers.values { watcher.yield(state.shown) }
            return effects
        }
        // tidemark:ignore read-in-loop a step asks for one page at most
        for effect in effects { perform(effect) }
    }

    private func perform(_ effect: Machine.Effect) {
        switch effect {
        case .stop(let id):
            state.withLock { $0.registrations.removeValue(forKey: id) }?.remove()
        case .load(let id, let after, let limit):
            guard let store else { preconditionFailure("pages are loaded from a store") }
            Task { [weak self] in
                do throws(FirestoreError) {
                    let page = try await store.page(below: after, limit: limit)
                    self?.step(.page(id, page.rows, isLast: page.isLast))
                } catch { self?.step(.failed(id, error)) }
            }
        case .listen(let id, let after, let limit):
            let registration = page(after: after, limit: limit).addSnapshotListener(
                includeMetadataChanges: true
            ) { [weak self] snapshot, error in
                self?.hear(id, snapshot: snapshot, error: error)
            }
            let isWanted = state.withLock { state in
                if !state.isClosed { state.registrations[id] = registration }
                return !state.isClosed
            }
            if !isWanted { registration.remove() }
        }
    }

    /// The query of the pages at this moment.
    var pages: PageQuery { PageQuery(rows: query, cleared: state.withLock(\.cleared)) }

    private func page(after: PagePosition?, limit: Int) -> Query {
        pages.page(after: after, limit: limit)
    }

    /// Returns the query of the newest rows.
    func newest(_ limit: Int) -> Query { page(after: nil, limit: limit) }

    /// Records a page that was read while the pager was not shown.
    func pushed(_ snapshot: QuerySnapshot, _ limit: Int) {
        store?.heard(snapshot, limit: limit)
    }

    func isDeleted(_ document: QueryDocumentSnapshot) -> Bool {
        disk?.isDeleted(document.fields ?? [:]) ?? false
    }

    private func hear(_ id: Int, snapshot: QuerySnapshot?, error: (any Error)?) {
        if let snapshot {
            let rows = snapshot.documents.compactMap { document in
                document.fields?[order].map { value in
                    PageRow(
                        PagePosition(value: value, path: document.documentPath), document,
                        isHidden: isDeleted(document),
                        isPending: document.metadata.hasPendingWrites)
                }
            }
            store?.heard(snapshot, limit: pageSize)
            step(
                .snapshot(
                    id, rows, isFromCache: snapshot.metadata.isFromCache,
                    named: snapshot.named),
                readTime: snapshot.freshness.readTime)
        } else if let error = error as? FirestoreError {
            state.withLock { _ = $0.registrations.removeValue(forKey: id) }
            step(.failed(id, error))
        }
    }
}

// MARK: - The bill before it is paid

extension Pager {
    /// Returns the plan of a use of this pager from its begin, of documents that the caller expects
    /// on the server. Reads the device's cache, and sends nothing.
    ///
    /// - Parameters:
    ///   - documents: The documents of the pager's query, in any order: what others have written
    ///     meanwhile is known to the caller alone.
    ///   - now: The server's time at the begin of the use.
    ///   - lastUse: The server's times at which the pager was last begun and closed, if the app
    ///     knows them: a listener that was closed less than 30 minutes ago is billed only for
    ///     changes. Without them, the device knows only when its listener last received something,
    ///     which may be earlier.
    /// - Returns: The plan of a pager that has not started.
    /// - Throws: `invalidArgument` if the field that orders the pages is not a time in a cached
    ///   document; the error of the disk.
    public func plan(
        of documents: [ExpectedDocument], at now: Timestamp,
        lastUse: ClosedRange<Timestamp>? = nil
    ) async throws(FirestoreError) -> PagerPlan {
        let session = pagedQuery.firestore.engine.session
        let rows = try pagedQuery.runnable()
        let held: CachedRows = try await answer { finish in
            session.cachedRows(
                of: rows, first: maxRows, where: { _ in true }, completion: finish)
        }
        let targets: ListenedResults = try await answer { finish in
            var plain = rows
            (plain.orders, plain.start, plain.end) = ([], nil, nil)
            session.listenedResults(of: plain, completion: finish)
        }
        var cached: [DocumentPath: ExpectedDocument] = [:]
        for view in held.documents { cached[view.path] = try expected(view.document) }
        return PagerPlan(
            pages, pageSize: pageSize, loadsPages: store != nil, maxRows: maxRows,
            documents: documents, device: try await planned(cached), targets: targets,
            at: now, lastUse: lastUse)
    }

    private func planned(
        _ cached: [DocumentPath: ExpectedDocument]
    ) async throws(FirestoreError) -> PlannedDisk {
        let known = try await store?.known()
        return PlannedDisk(
            held: cached, progress: known?.progress ?? PageProgress(),
            isStored: known?.wasStored ?? false, floor: known?.floor ?? .lowest,
            maxAge: disk?.maxAge, hasChanges: disk?.changeTime != nil)
    }

    private func expected(_ document: Document) throws(FirestoreError) -> ExpectedDocument {
        guard case .timestamp(let time)? = document.fields[orderField] else {
            throw .invalidArgument("A pager that is ordered by no time has no plan.")
        }
        return ExpectedDocument(
            path: document.path, time: time, changedAt: document.updateTime,
            isMarkedDeleted: disk?.isDeleted(document.fields) ?? false)
    }
}

/// The state of a pager at a moment.
public struct PagerState: Hashable, Sendable {
    /// The rows, newest first, each document once and without a hole, down to the first unknown
    /// row. Rows that newer rows have pushed out of a page are unchanged since then.
    public let items: [QueryDocumentSnapshot]
    /// True while a page is loading.
    public let isLoadingMore: Bool
    /// True if there may be older rows.
    public let hasMore: Bool
    /// True if the newest page comes only from the device, and the server has not confirmed it.
    public let isFromCache: Bool
    /// The time as of which the server last confirmed the newest page; nil if that has not happened
    /// since the pager began.
    public let confirmed: Timestamp?
    /// The reason why the last page did not arrive; ``Pager/loadMore()`` requests it again.
    public let error: FirestoreError?

    /// The items, oldest first, in the order of a conversation.
    public var chronological: ReversedCollection<[QueryDocumentSnapshot]> { items.reversed() }

    init(_ machine: PageMachine<QueryDocumentSnapshot>, confirmed: Timestamp?) {
        self.confirmed = confirmed
        let rows = machine.rows
        var items: [QueryDocumentSnapshot] = []
        items.reserveCapacity(rows.count)
        // The loop uses indices, because copies of whole rows were most of the cost.
        for place in rows.indices where !rows[place].isHidden { items.append(rows[place].content) }
        self.items = items
        isLoadingMore = machine.isLoadingMore
        hasMore = machine.hasMore
        isFromCache = machine.isFromCache
        error = machine.error
    }
}
