public import Tidemark

/// Whom a user has blocked, with the details that a list shows.
///
/// The list is a feed: after the first time only its changes are read. Details are read in batches and kept
/// (``UserDetails``). An entry's document id is the blocked user's id; unblocking marks it as deleted.
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
        /// Why details are old or not there; nil when all are as they should be.
        public var detailsError: FirestoreError?
    }

    private let feed: Feed
    private let users: UserDetails
    private var blocked: Set<ByteString> = []

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

    /// Whether a user is on the list, as of the last ``open()`` or ``sync()``. Costs nothing.
    public func isBlocked(_ id: String) -> Bool {
        blocked.contains(ByteString(id))
    }

    private func state() async throws(FirestoreError) -> State {
        let items = try await feed.loadAll()
        blocked = Set(items.map { ByteString($0.document.documentID) })
        let details = try await users.details(of: items.map(\.document.documentID))
        let entries = items.map { item in
            Entry(
                id: item.document.documentID, blockedAt: item.time, document: item.document,
                detail: details[item.document.documentID])
        }
        return State(entries: entries, detailsError: details.error)
    }
}
