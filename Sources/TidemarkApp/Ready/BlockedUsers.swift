public import Tidemark

/// The users whom a user has blocked, with the details that a list shows.
///
/// The list is a feed: after the first time only its changes are read. Details are read in batches
/// and kept (``UserDetails``). An entry's document id is the blocked user's id; unblocking marks
/// the entry as deleted, or deletes it if an audit finds the changes of the list.
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
        /// The id of the blocked user.
        public let id: String
        public let blockedAt: Timestamp
        public let document: QueryDocumentSnapshot
        /// The user's details; nil while they are unknown because no server answered.
        public let detail: UserDetails.Detail?
    }

    public struct State: Hashable, Sendable {
        /// The entries, latest first.
        public var entries: [Entry] = []
        /// The relation between the list and the server's.
        public var phase = ListPhase.loading
        /// The reason why details are old or missing; nil if all are up to date.
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
    ///   - users: The collection with the details.
    ///   - blockedAt: The time that orders the entries.
    ///   - way: The way in which changes of the list are found.
    ///   - maxAge: The age at which details are read again.
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

    /// Returns the device's list, and the device's details. Costs reads only for missing or old
    /// details.
    public func open() async throws(FirestoreError) -> State {
        try await feed.open()
        return try await state()
    }

    /// Updates the list at the cost of its changes, then reads the details of new users.
    public func sync() async throws(FirestoreError) -> State {
        try await feed.sync()
        return try await state()
    }

    /// The present list and each later list; a slow reader skips to the newest. Starts no read.
    public nonisolated var states: AsyncStream<State> { watchers.stream }

    /// Shows the device's list, and then updates the list by listening, until ``stop()`` or the
    /// release of this object. Costs, beyond a sync, a read for each change and for each new user's
    /// details.
    public func start() async {
        guard following == nil else { return }
        following = Task { [weak self, feed] in
            for await state in feed.states { await self?.notify(state) }
        }
        // The phase shows an error of the feed.
        _ = try? await feed.loadAll()
        await feed.startListening()
    }

    /// Stops the listener. The known data stay.
    public func stop() async {
        following?.cancel()
        following = nil
        await feed.stopListening()
    }

    /// Adds a user to the list. Works offline: the write is on disk when the method returns, and
    /// the list shows it immediately.
    ///
    /// - Parameters:
    ///   - id: The user's id.
    ///   - fields: More fields of the entry.
    /// - Returns: The receipt of the write, with which a caller can wait for the server.
    /// - Throws: `invalidArgument` for an invalid id, or the error of the disk.
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

    /// Removes a user from the list. Works offline, like ``block(_:fields:)``. A user who is not on
    /// the list stays off the list.
    ///
    /// - Parameter id: The user's id.
    /// - Returns: The receipt of the write, with which a caller can wait for the server.
    /// - Throws: `invalidArgument` for an invalid id, or the error of the disk.
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
            throw .invalidArgument("\"\(id)\" is not a user id.")
        }
        return list.document(id)
    }

    /// Returns true if a user is on the list, as far as the list was read. Costs no read.
    public func isBlocked(_ id: String) -> Bool {
        blocked.contains(ByteString(id))
    }

    private func state() async throws(FirestoreError) -> State {
        try await feed.loadAll()
        let state = try await state(await feed.state)
        watchers.notify(state)
        return state
    }

    /// Returns the state with the available details.
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

    private func notify(_ shown: FeedState) async {
        if case .loading = shown.phase { return }
        do throws(FirestoreError) { watchers.notify(try await state(shown)) } catch {
            watchers.notify(State(phase: .failed(error), detailsError: error))
        }
    }
}

extension [String: Any] {
    /// Sets the value at a path.
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
