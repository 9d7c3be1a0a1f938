import Synchronization
public import Tidemark

/// A collection in pages, newest first, of which the first is live: messages of a conversation, or the
/// conversations themselves.
///
/// ```swift
/// let pager = try Pager(firestore.collection("rooms/blue/messages"), orderedBy: "sentAt")
/// for await state in pager.states {
///     show(state.chronological, isLoading: state.isLoadingMore)
/// }
/// pager.loadMore()  // from a button, or as the last row appears: never twice at once
/// ```
///
/// No listener is without a limit. There is no gap and no row twice, whatever arrives, changes or
/// vanishes; see ``PagerState/items``. Costs a read for each row of a page, and one for each later
/// change of what is listened to. What the device holds is shown before the server answers.
///
/// What the user has cleared does not come back: give it the marks of the conversation's ``Feed``, or
/// let it ``follow(_:)`` that.
///
/// With ``PagesFromDisk`` older pages come from disk where the device holds them completely, with no
/// reads and no listener.
public final class Pager: Sendable {
    private typealias Machine = PageMachine<QueryDocumentSnapshot>

    private struct State {
        private var machine: Machine
        /// What the machine shows, made once for all who ask: it costs a pass over the rows.
        private(set) var shown: PagerState
        var registrations: [Int: any ListenerRegistration] = [:]
        var watchers: [Int: AsyncStream<PagerState>.Continuation] = [:]
        var lastWatcher = 0
        var hasStarted = false
        var isClosed = false
        /// Up to where the user has cleared.
        var cleared: Timestamp?

        init(_ machine: Machine) {
            self.machine = machine
            shown = PagerState(machine)
        }

        mutating func step(_ event: Machine.Event) -> [Machine.Effect] {
            let effects = machine.step(event)
            shown = PagerState(machine)
            return effects
        }
    }

    private let query: Query
    private let order: FieldPath
    private let pageSize: Int
    private let disk: ParsedPagesFromDisk?
    /// Nil where every page is a listener.
    private let store: PageStore?
    private let state: Mutex<State>
    private let following = Mutex<Task<Void, Never>?>(nil)

    /// - Parameters:
    ///   - query: Without an order, a limit or a cursor: those are the pager's.
    ///   - field: What it is ordered by, the greatest first. Documents without it are not shown.
    ///   - pageSize: 1 to 1,000 rows.
    ///   - pages: When older pages come from disk. The field must then be a time.
    ///   - maxRows: Rows that are held at the most: up to 1,000,000. With so many, there are no more pages;
    ///     what arrives at the head lets the oldest go.
    ///   - marks: Up to where the user has cleared: what is there is neither read nor shown. The field
    ///     must then be a time.
    /// - Throws: `invalidArgument` when that makes no sense.
    public init(
        _ query: Query, orderedBy field: some FieldName, pageSize: Int = 50,
        pagesFromDisk pages: PagesFromDisk = .never, maxRows: Int = 100_000, marks: Marks = Marks()
    ) throws(FirestoreError) {
        guard (1...1_000).contains(pageSize) else {
            throw .invalidArgument("A page holds 1 to 1,000 rows, not \(pageSize).")
        }
        guard (pageSize...1_000_000).contains(maxRows) else {
            throw .invalidArgument("A pager holds a page to 1,000,000 rows, not \(maxRows).")
        }
        let value = try query.runnable()
        guard value.orders.isEmpty, value.limit == nil, value.start == nil, value.end == nil else {
            throw .invalidArgument("A pager sets the order, the limit and the cursors by itself.")
        }
        let order = try field.resolved()
        self.pageSize = pageSize
        self.order = order
        let disk = try ParsedPagesFromDisk(pages)
        self.disk = disk
        store = disk.map { PageStore(query.firestore, value, order, $0) }
        let ordered = query.order(by: order, descending: true)
        // Only times can be told to be held completely.
        self.query = try disk == nil ? ordered : ordered.times()
        state = Mutex(
            State(Machine(pageSize: pageSize, loadsPages: disk != nil, maxRows: maxRows)))
        setMarks(marks)
    }

    deinit {
        following.withLock { $0?.cancel() }
        close()
    }

    /// Hides at once what the user has cleared; it does not come back, from disk or server, or with a
    /// page that is on its way. The mark only moves forward. The consumption mark plays no part.
    ///
    /// - Parameter marks: For example ``Feed/marks``.
    public func setMarks(_ marks: Marks) {
        guard let action = marks.action else { return }
        state.withLock { state in state.cleared = max(state.cleared ?? action, action) }
        store?.clear(through: action)
        step(.cleared(action))
    }

    /// Takes the marks of a feed over, now and as they move, also those that the user's other devices
    /// move. Opens the feed, from disk; it is not kept up to date for it.
    ///
    /// It returns when what was cleared on this device before is known: call it before ``start()``, so
    /// that nothing of that is read.
    ///
    /// - Parameter feed: Of the same items.
    /// - Throws: What the disk answered.
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

    /// All of its rows, without a limit.
    var pagedQuery: Query { query }
    var orderField: FieldPath { order }

    /// What is to be shown, now and as it changes. The first one begins to listen. A slow reader skips
    /// to the newest.
    public var states: AsyncStream<PagerState> {
        let (states, continuation) = AsyncStream.makeStream(
            of: PagerState.self, bufferingPolicy: .bufferingNewest(1))
        let isNew = state.withLock { state in
            if state.isClosed { return false }
            state.lastWatcher += 1
            let number = state.lastWatcher
            state.watchers[number] = continuation
            continuation.onTermination = { [weak self] _ in
                self?.state.withLock { _ = $0.watchers.removeValue(forKey: number) }
            }
            continuation.yield(state.shown)
            return true
        }
        if !isNew { continuation.finish() }
        start()
        return states
    }

    /// What is to be shown now.
    public var current: PagerState { state.withLock { $0.shown } }

    /// Begins to listen to the newest page; asking for ``states`` does too.
    public func start() {
        let isFirst = state.withLock { state in
            defer { state.hasStarted = true }
            return !state.hasStarted
        }
        guard isFirst else { return }
        step(.start)
        // Without a server, what the device holds is shown as it is.
        guard let store else { return }
        store.followOwn { [weak self] changes in self?.step(.changed(changes)) }
        Task { [weak self] in
            guard let isHeld = try? await store.hasEarlierPages(), isHeld else { return }
            try? await self?.refresh()
        }
    }

    /// Reads what has changed in the pages that came from disk, for
    /// ``PagesFromDisk/keptRight(changeTime:deletedField:)``. Done once when the pager begins. Costs a
    /// read for each change, at least one.
    ///
    /// - Throws: What the server or the disk answered; the next one asks for the same again.
    public func refresh() async throws(FirestoreError) {
        guard let store else { return }
        step(.changed(try await store.changes()))
    }

    /// Asks for the next older page, or again for one that failed. Does nothing while one is loading or
    /// when there are no more.
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

    private func step(_ event: Machine.Event) {
        let effects = state.withLock { state in
            if state.isClosed { return [Machine.Effect]() }
            let effects = state.step(event)
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
                self?.hear(id, snapshot, error)
            }
            let isWanted = state.withLock { state in
                if !state.isClosed { state.registrations[id] = registration }
                return !state.isClosed
            }
            if !isWanted { registration.remove() }
        }
    }

    private func page(after: PagePosition?, limit: Int) -> Query {
        var query = query
        if let cleared = state.withLock(\.cleared) {
            query = (try? query.times(above: cleared)) ?? query
        }
        guard let after, var value = try? query.runnable() else { return query.limit(to: limit) }
        let name = ReferenceValue(database: query.firestore.databaseID, path: after.path)
        value.orders.append(Order(.documentID, .descending))
        value.start = Cursor(values: [after.value, .reference(name)], before: false)
        return Query(query.firestore, value).limit(to: limit)
    }

    private func hear(_ id: Int, _ snapshot: QuerySnapshot?, _ error: (any Error)?) {
        if let snapshot {
            let rows = snapshot.documents.compactMap { document in
                document.fields?[order].map { value in
                    PageRow(
                        PagePosition(value: value, path: document.documentPath), document,
                        isHidden: disk?.isDeleted(document.fields ?? [:]) ?? false,
                        isPending: document.metadata.hasPendingWrites)
                }
            }
            store?.heard(snapshot, limit: pageSize)
            step(
                .snapshot(
                    id, rows, isFromCache: snapshot.metadata.isFromCache,
                    named: snapshot.named))
        } else if let error = error as? FirestoreError {
            state.withLock { _ = $0.registrations.removeValue(forKey: id) }
            step(.failed(id, error))
        }
    }
}

/// What a pager shows at one moment.
public struct PagerState: Hashable, Sendable {
    /// Newest first, each document once, without a hole: down to where something is not known. Those
    /// that newer ones have pushed out of a page are as they were then.
    public let items: [QueryDocumentSnapshot]
    /// Whether a page is on its way.
    public let isLoadingMore: Bool
    /// Whether there may be older ones.
    public let hasMore: Bool
    /// Whether the newest page is what the device held, and the server has not confirmed it.
    public let isFromCache: Bool
    /// Why the last page did not come; ``Pager/loadMore()`` asks again.
    public let error: FirestoreError?

    /// Oldest first, as a conversation is read.
    public var chronological: ReversedCollection<[QueryDocumentSnapshot]> { items.reversed() }

    init(_ machine: PageMachine<QueryDocumentSnapshot>) {
        let rows = machine.rows
        var items: [QueryDocumentSnapshot] = []
        items.reserveCapacity(rows.count)
        // By their places: copies of whole rows were most of the work.
        for place in rows.indices where !rows[place].isHidden { items.append(rows[place].content) }
        self.items = items
        isLoadingMore = machine.isLoadingMore
        hasMore = machine.hasMore
        isFromCache = machine.isFromCache
        error = machine.error
    }
}
