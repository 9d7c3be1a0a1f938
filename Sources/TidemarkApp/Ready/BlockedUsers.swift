public import Tidemark

/// Whom a user has blocked, with the details that a list shows.
///
/// The list is a feed: after the first time only its changes are read. Details are read in batches and kept
/// (``UserDetails``). An entry's document id is the blocked user's id; unblocking marks it as deleted, or
/// deletes it where the list is known by an audit.
///
/// ```swift
/// let blocked = try BlockedUsers(
///     firestore.collection("users/me/blocked"), users: firestore.collection("users"))
/// await blocked.start()
/// try await blocked.block("troll")  // offline too
/// for await state in blocked.states {
///     show(state.entries)
/// }
/// ```
public actor BlockedUsers {
    public struct Entry: Hashable, Sendable, Identifiable {
        /// Of the blocked user.
        public let id: String
        public let blockedAt: Timestamp
        public let document: QueryDocumentSnapshot
        /// Nil while it is not known, for want of a server.
        public let detail: UserDetails.Detail?
    }

    public struct State: Hashable, Sendable {
        /// The latest first.
        public var entries: [Entry] = []
        /// Where the list stands with the server.
        public var phase = ListPhase.loading
        /// Why details are old or not there; nil when all are as they should be.
        public var detailsError: FirestoreError?
    }

    private let feed: Feed
    private let users: UserDetails
    private let list: CollectionReference?
    private let blockedAt: FieldPath
    private let way: FeedDefinition.Way
    private let watchers = Watchers<State>(State())
    private var blocked: Set<ByteString> = []
    private var following: Task<Void, Never>?

    /// - Parameters:
    ///   - list: The user's own list, such as `users/me/blocked`.
    ///   - users: Where the details are.
    ///   - blockedAt: The time that entries are shown by.
    ///   - way: How changes of the list are known.
    ///   - maxAge: When details are read again.
    public init(
        _ list: Query, users: CollectionReference, blockedAt: String = "blockedAt",
        way: FeedDefinition.Way = .changeTime("updatedAt", deletedField: "deletedAt"),
        maxAge: Duration = .seconds(86_400)
    ) throws(FirestoreError) {
        feed = try Feed(FeedDefinition(query: list, itemTime: blockedAt, way: way))
        self.users = try UserDetails(users, maxAge: maxAge)
        self.list = try list.runnable().collection.map { list.firestore.collection($0.text) }
        self.blockedAt = try blockedAt.resolved()
        self.way = way
    }

    deinit {
        following?.cancel()
        let feed = feed
        Task { await feed.stopListening() }
    }

    /// The list as the device holds it, and details from the device. Costs reads only for details that
    /// are not there or old.
    public func open() async throws(FirestoreError) -> State {
        try await feed.open()
        return try await state()
    }

    /// Brings the list up to date at the price of its changes, then the details of whom is new.
    public func sync() async throws(FirestoreError) -> State {
        try await feed.sync()
        return try await state()
    }

    /// The list now and as it changes; a slow reader skips to the newest. Begins nothing.
    public nonisolated var states: AsyncStream<State> { watchers.stream }

    /// Shows what the device holds, and then keeps the list right by listening, until ``stop()`` or the list
    /// goes. Costs, beyond a sync, a read for each change and for each new user's details.
    public func start() async {
        guard following == nil else { return }
        following = Task { [weak self, feed] in
            for await state in feed.states { await self?.tell(state) }
        }
        // What fails is the phase.
        _ = try? await feed.loadAll()
        await feed.startListening()
    }

    /// Listens no longer. What is known stays.
    public func stop() async {
        following?.cancel()
        following = nil
        await feed.stopListening()
    }

    /// Puts a user on the list. Works offline: it is on disk when it returns, and shown at once.
    ///
    /// - Parameters:
    ///   - id: The user's id.
    ///   - fields: What else the entry is to hold.
    /// - Returns: The write, to wait for the server.
    /// - Throws: `invalidArgument` for what is no id; what the disk answered.
    @discardableResult
    public func block(
        _ id: String, fields: [String: any Sendable] = [:]
    ) async throws(FirestoreError) -> WriteReceipt {
        var entry: [String: Any] = fields
        var data = [blockedAt: FieldValue.serverTimestamp()]
        if case .changeTime(let field, let deleted) = way {
            data[try field.resolved()] = FieldValue.serverTimestamp()
            if let deleted { data[try deleted.resolved()] = FieldValue.delete() }
        }
        for (path, value) in data { entry.set(value, at: path.segments[...]) }
        return try await document(id).enqueueSetData(entry, merge: true)
    }

    /// Takes a user off the list. Works offline, as ``block(_:fields:)``. Somebody who is not on the list
    /// stays off it.
    ///
    /// - Parameter id: The user's id.
    /// - Returns: The write, to wait for the server.
    /// - Throws: `invalidArgument` for what is no id; what the disk answered.
    @discardableResult
    public func unblock(_ id: String) async throws(FirestoreError) -> WriteReceipt {
        let document = try document(id)
        guard case .changeTime(let field, let deleted?) = way else {
            return try await document.enqueueDelete()
        }
        var entry: [String: Any] = [:]
        let now = FieldValue.serverTimestamp()
        entry.set(now, at: try field.resolved().segments[...])
        entry.set(now, at: try deleted.resolved().segments[...])
        return try await document.enqueueSetData(entry, merge: true)
    }

    private func document(_ id: String) throws(FirestoreError) -> DocumentReference {
        guard let list else {
            throw .invalidArgument("A list over several collections has no place for an entry.")
        }
        guard !id.isEmpty, !id.contains("/") else {
            throw .invalidArgument("\"\(id)\" is no user's id.")
        }
        return list.document(id)
    }

    /// Whether a user is on the list, as far as it was read. Costs nothing.
    public func isBlocked(_ id: String) -> Bool {
        blocked.contains(ByteString(id))
    }

    private func state() async throws(FirestoreError) -> State {
        try await feed.loadAll()
        let state = try await state(await feed.state)
        watchers.tell(state)
        return state
    }

    /// With the details that there are.
    private func state(_ shown: FeedState) async throws(FirestoreError) -> State {
        let ids = shown.items.map(\.document.documentID)
        blocked = Set(ids.map(ByteString.init))
        let details = try await users.details(of: ids)
        let entries = shown.items.map { item in
            Entry(
                id: item.document.documentID, blockedAt: item.time, document: item.document,
                detail: details[item.document.documentID])
        }
        return State(
            entries: entries, phase: ListPhase(shown.phase, isEmpty: entries.isEmpty),
            detailsError: details.error)
    }

    private func tell(_ shown: FeedState) async {
        if case .loading = shown.phase { return }
        do throws(FirestoreError) { watchers.tell(try await state(shown)) } catch {
            watchers.tell(State(phase: .failed(error), detailsError: error))
        }
    }
}

extension [String: Any] {
    /// Puts a value where a path leads.
    mutating func set(_ value: Any, at path: ArraySlice<String>) {
        guard let first = path.first else { return }
        if path.count == 1 {
            self[first] = value
        } else {
            var inner = self[first] as? [String: Any] ?? [:]
            inner.set(value, at: path.dropFirst())
            self[first] = inner
        }
    }
}
