public import Tidemark

/// The users who were seen recently: each refresh asks only for the users who were seen since the
/// last refresh.
///
/// Documents contain the server's time at which their user was last seen, written with
/// `FieldValue.serverTimestamp()` as a sign of life. The first refresh reads the last 24 hours.
/// Later refreshes read the changes since, with a minute's overlap, and never more than those 24
/// hours. Times are the server's: a wrong clock on the device costs at most one read, and hides no
/// user. A user whose document is truly deleted stays until the window has passed.
///
/// ``start()`` listens: a read for each sign of life of any user in the window, when it happens. If
/// signs of life are more frequent than the list needs, ``refresh()`` every minute costs less.
public actor OnlineUsers {
    public struct User: Hashable, Sendable, Identifiable {
        public let document: QueryDocumentSnapshot
        /// The time by the server's clock.
        public let lastSeen: Timestamp
        /// The document's path.
        public var id: String { document.reference.path }
    }

    /// The list at a moment.
    public struct State: Hashable, Sendable {
        /// The users who were seen within the window, the most recent first.
        public internal(set) var users: [User] = []
        /// The relation between the list and the server's.
        public internal(set) var phase = ListPhase.loading
    }

    public struct Refresh: Hashable, Sendable {
        /// The number of billed reads.
        public var reads = 0
        /// The time from which the refresh asked.
        public var since = Timestamp.epoch
    }

    /// A commit may take this long to become visible after its server timestamp.
    static let overlap = Duration.seconds(60)
    static let pageSize = 500

    private let firestore: Firestore
    private let query: QueryValue
    private let field: FieldPath
    private let window: Duration
    private let limit: Int
    private let engine: UserSession
    /// The time up to which all users are known; nil before the first refresh.
    private var mark: Timestamp?
    private var isLoaded = false
    private var clock = ServerTime()
    private var running: Task<Result<Refresh, FirestoreError>, Never>?
    private var listening: Task<Void, Never>?
    /// The mark on disk.
    private var saved: Timestamp?
    private let watchers = Watchers<State>(State())
    private var phase = ListPhase.loading
    /// The users, newest first, as of the last ``open()`` or ``refresh()``.
    public private(set) var users: [User] = []

    /// - Parameters:
    ///   - query: The collection, and filters if needed, without an order, a limit or a cursor.
    ///   - field: The field with the time at which a user was last seen.
    ///   - window: The time since which users are shown; at least a minute.
    ///   - limit: The maximum number of shown users, the newest: 1 to 10,000.
    public init(
        _ query: Query, seenAt field: some FieldName = "lastSeen",
        window: Duration = .seconds(86_400), limit: Int = 1_000
    ) throws(FirestoreError) {
        try query.checkIsPlain(for: "A list of online users")
        guard window >= Self.overlap, (1...10_000).contains(limit) else {
            throw .invalidArgument("A window is of a minute at least, and shows 1 to 10,000 users.")
        }
        firestore = query.firestore
        self.query = try query.runnable()
        self.field = try field.resolved()
        self.window = window
        self.limit = limit
        engine = firestore.engine.session
    }

    deinit { listening?.cancel() }

    /// The present list and each later list; a slow reader skips to the newest. Starts no read.
    public nonisolated var states: AsyncStream<State> { watchers.stream }

    /// Returns the users that the device knows. Costs no reads.
    @discardableResult
    public func open() async throws(FirestoreError) -> [User] {
        try await load()
        // Before the server has answered with its time, the last refresh is the latest known time.
        let now = clock.estimate(at: DeviceTime(firestore.environment)) ?? mark
        guard let now else {
            notify()
            return users
        }
        let since = now.advanced(by: .zero - window)
        var shown = query.above(since, field)
        shown.orders = [Order(field, .descending), Order(.documentID, .descending)]
        let display = shown
        let limit = limit
        let rows: CachedRows = try await answer { finish in
            engine.cachedRows(of: display, first: limit, where: { _ in true }, completion: finish)
        }
        users = rows.documents.compactMap { view in
            let document = firestore.cachedSnapshot(of: view)
            guard case .timestamp(let time)? = document.fields?[field] else { return nil }
            return User(document: document, lastSeen: time)
        }
        notify()
        return users
    }

    /// Asks for the users who were seen since the last refresh. Concurrent calls share a single
    /// request.
    ///
    /// - Throws: The error of the server or the disk; the next refresh repeats the request.
    @discardableResult
    public func refresh() async throws(FirestoreError) -> Refresh {
        let task = running ?? Task { await run() }
        running = task
        return try await task.value.get()
    }

    /// Returns the users who were seen within `duration` of the server's present time.
    public func online(within duration: Duration = .seconds(300)) -> [User] {
        guard let now = clock.estimate(at: DeviceTime(firestore.environment)) ?? mark else {
            return []
        }
        let since = now.advanced(by: .zero - duration)
        return users.filter { $0.lastSeen > since }
    }

    private func notify() {
        switch phase {
        case .fresh where users.isEmpty, .empty where users.isEmpty: phase = .empty
        case .empty: phase = .fresh
        case .loading where !users.isEmpty: phase = .stale(age: age)
        default: break
        }
        watchers.notify(State(users: users, phase: phase))
    }

    /// The time since all users were known, by the estimate of the server's time, or by the
    /// device's clock.
    private var age: Duration? {
        guard let mark else { return nil }
        let now = DeviceTime(firestore.environment)
        return max(.zero, (clock.estimate(at: now) ?? now.wall).duration(since: mark))
    }

    private func run() async -> Result<Refresh, FirestoreError> {
        defer { running = nil }
        do throws(FirestoreError) {
            try await load()
            var refresh = Refresh()
            let now = try await serverNow(&refresh)
            let start = now.map { $0.advanced(by: .zero - window) } ?? .min
            refresh.since = max(start, mark?.advanced(by: .zero - Self.overlap) ?? start)
            try await drain(&refresh)
            phase = .fresh
            try await open()
            return .success(refresh)
        } catch {
            phase = .failed(error)
            notify()
            return .failure(error)
        }
    }

    /// Returns the server's time: the estimate if there is one, otherwise the server's answer if
    /// the time decides how much is read. Returns nil if it does not.
    private func serverNow(_ refresh: inout Refresh) async throws(FirestoreError) -> Timestamp? {
        let device = DeviceTime(firestore.environment)
        if let now = clock.estimate(at: device) { return now }
        if let mark, device.wall.duration(since: mark) < window { return nil }
        var newest = query
        newest.orders = [Order(field, .descending)]
        newest.limit = .first(1)
        let page = try await fetch(newest, record: nil)
        refresh.reads += max(1, page.rows.count)
        return page.readTime
    }

    private func drain(_ refresh: inout Refresh) async throws(FirestoreError) {
        try await declareIndex()
        var page = query.above(refresh.since, field, orEqual: true)
        page.orders = [Order(field), Order(.documentID)]
        page.limit = .first(Self.pageSize)
        var reached: Timestamp?
        while true {
            let answer = try await fetch(page, record: reached)
            // The result counts as of the first page, because later changes may be missing in that
            // page.
            reached = reached ?? answer.readTime
            refresh.reads += max(1, answer.rows.count)
            guard answer.rows.count == Self.pageSize, let last = answer.rows.last,
                let value = last.fields[field]
            else { break }
            let name = ReferenceValue(database: firestore.databaseID, path: last.path)
            page.start = Cursor(values: [value, .reference(name)], before: false)
        }
        mark = reached ?? mark
        saved = mark
    }

    private struct Answer: Sendable {
        var rows: [Document]
        var readTime: Timestamp
    }

    /// - Parameter record: The mark that is stored with the last page; nil for the page's own time.
    private func fetch(
        _ query: QueryValue, record: Timestamp?
    ) async throws(FirestoreError) -> Answer {
        let made = ResultBox<Answer>()
        let key = key
        // A request for only the time has no information about the users who were seen.
        let isDrain = query.limit == .first(Self.pageSize)
        let kept = mark
        let _: ReadResult = try await answer { finish in
            engine.fetch(
                query, deadline: firestore.readDeadline, tag: .current,
                records: { rows, readTime in
                    made.set(Answer(rows: rows, readTime: readTime))
                    let isLast = rows.count < Self.pageSize
                    guard isDrain, let mark = isLast ? record ?? readTime : kept else { return [:] }
                    return [key: FieldsCodec.encode(.timestamp(mark))]
                },
                completion: finish)
        }
        guard let answer = made.value else {
            throw FirestoreError(.internal, "A read ended without storing what it read.")
        }
        clock.learn(answer.readTime, at: DeviceTime(firestore.environment))
        return answer
    }

    private var key: String { "online/\(query.canonicalID)/\(field.encoded)" }

    private func load() async throws(FirestoreError) {
        if isLoaded { return }
        let bytes: [UInt8]? = try await answer { finish in
            engine.record(forKey: key, completion: finish)
        }
        guard !isLoaded else { return }
        isLoaded = true
        if let bytes, case .timestamp(let time)? = try? FieldsCodec.decodeValue(bytes) {
            mark = time
            saved = time
        }
    }

    private func declareIndex() async throws(FirestoreError) {
        var shown = query
        shown.orders = [Order(field, .descending), Order(.documentID, .descending)]
        let display = shown
        try await answer { (finish: @escaping @Sendable (Result<Void, SyncError>) -> Void) in
            engine.declareIndexes(for: [display]) { error in
                finish(error.map { .failure($0) } ?? .success(()))
            }
        }
    }
}

// MARK: - Live

extension OnlineUsers {
    /// The first pause between two attempts to listen after a failure, doubled up to a minute.
    private static let firstPause = Duration.seconds(1)
    /// The maximum delay of the mark on disk, which is also the period that a kill makes the app
    /// read again.
    private static let saveEvery = Duration.seconds(30)

    /// Shows the users that the device knows, and then listens, until ``stop()`` or the release of
    /// this object. Costs a read for each user who was seen since the last time, with a minute's
    /// overlap, and then a read for each sign of life. The phase shows an error, and the list
    /// retries after 1 s, 2 s and so on up to a minute.
    public func start() {
        guard listening == nil else { return }
        listening = Task { [weak self] in
            var pause = Self.firstPause
            while !Task.isCancelled {
                guard let query = await self?.liveQuery() else {
                    await self?.wait(pause)
                    pause = min(pause * 2, .seconds(60))
                    continue
                }
                do throws(FirestoreError) {
                    for try await snapshot in query.snapshots(includeMetadataChanges: true) {
                        pause = Self.firstPause
                        await self?.hear(snapshot)
                    }
                } catch { await self?.fail(error) }
                if self == nil { return }
                await self?.wait(pause)
                pause = min(pause * 2, .seconds(60))
            }
        }
    }

    /// Stops the listener. The known users stay.
    public func stop() async {
        listening?.cancel()
        listening = nil
        try? await save()
    }

    /// Returns the query for the users who were seen since the mark, newest first, limited to the
    /// shown number; nil if even the server's time is unavailable.
    private func liveQuery() async -> Query? {
        do throws(FirestoreError) {
            try await open()
            try await declareIndex()
            var refresh = Refresh()
            let now = try await serverNow(&refresh)
            let start = now.map { $0.advanced(by: .zero - window) } ?? .min
            let since = max(start, mark?.advanced(by: .zero - Self.overlap) ?? start)
            var asked = query.above(since, field, orEqual: true)
            asked.orders = [Order(field, .descending), Order(.documentID, .descending)]
            asked.limit = .first(limit)
            return Query(firestore, asked)
        } catch {
            fail(error)
            return nil
        }
    }

    private func hear(_ snapshot: QuerySnapshot) async {
        if snapshot.metadata.isFromCache {
            if phase == .fresh { phase = .stale(age: age) }
        } else {
            if let readTime = snapshot.readTime {
                clock.learn(readTime, at: DeviceTime(firestore.environment))
                mark = max(mark ?? readTime, readTime)
            }
            phase = .fresh
        }
        let isBehind = mark.map { mark in
            saved.map { mark.duration(since: $0) > Self.saveEvery } ?? true
        }
        var failure: FirestoreError?
        // The mark is saved before the users are shown: an app that ends then does not pay for them
        // again. The users are shown even if the mark cannot be stored.
        do throws(FirestoreError) {
            if isBehind ?? false { try await save() }
        } catch { failure = error }
        do throws(FirestoreError) { try await open() } catch { failure = error }
        if let failure { fail(failure) }
    }

    private func fail(_ error: FirestoreError) {
        if error.code == .cancelled { return }
        phase = .failed(error)
        notify()
    }

    private func save() async throws(FirestoreError) {
        guard let mark, mark != saved else { return }
        saved = mark
        let bytes = FieldsCodec.encode(.timestamp(mark))
        try await answer { (finish: @escaping @Sendable (Result<Void, SyncError>) -> Void) in
            engine.setRecord(bytes, forKey: key) { error in
                finish(error.map { .failure($0) } ?? .success(()))
            }
        }
    }

    private func wait(_ duration: Duration) async {
        let _: Void? = try? await answer { finish in
            _ = engine.wait(duration) { finish(.success(())) }
        }
    }
}

extension QueryValue {
    /// Returns the query for documents whose field contains a later time.
    func above(_ time: Timestamp, _ field: FieldPath, orEqual: Bool = false) -> QueryValue {
        var result = self
        let condition = FilterValue.field(
            field, orEqual ? .greaterThanOrEqual : .greaterThan, .timestamp(time))
        switch filter {
        case .and(let conditions)?: result.filter = .and(conditions + [condition])
        case let filter?: result.filter = .and([filter, condition])
        case nil: result.filter = condition
        }
        return result
    }
}
