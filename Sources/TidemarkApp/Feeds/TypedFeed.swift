public import Tidemark

/// A ``Feed`` whose items are values of an app's own type: from the cache first, then the changes
/// since, then live.
///
/// ```swift
/// let messages = try TypedFeed(of: Message.self, definition)
/// for await diff in messages.diffs {
///     list.apply(diff)
/// }
/// ```
///
/// An item is decoded once, and again after its document changes. An item that cannot be decoded is
/// in ``TypedFeedState/undecodable`` and hides no other item.
public struct TypedFeed<Item: Decodable & Sendable>: Sendable {
    /// The underlying feed, for everything without a type: marks, reads, phases and events.
    public let feed: Feed

    /// - Throws: `invalidArgument` if the definition is invalid.
    public init(
        of type: Item.Type = Item.self, _ definition: FeedDefinition
    ) throws(FirestoreError) {
        feed = try Feed(definition)
    }

    /// Creates a typed view of an existing feed; both show the same window.
    public init(of type: Item.Type = Item.self, _ feed: Feed) { self.feed = feed }

    /// Shows the items that the device has, at no read, and keeps them up to date: see
    /// ``Feed/startListening()``. Ends with ``Feed/stopListening()`` or with the feed.
    ///
    /// - Throws: The error of the disk. The phase shows errors of the server.
    public func start() async throws(FirestoreError) {
        try await feed.open()
        await feed.startListening()
    }

    /// See ``Feed/clear(through:)``.
    @discardableResult
    public func clear(through time: Timestamp? = nil) async throws(FirestoreError) -> Marks.Move? {
        try await feed.clear(through: time)
    }

    /// See ``Feed/markConsumed(through:)``.
    @discardableResult
    public func markConsumed(
        through time: Timestamp? = nil
    ) async throws(FirestoreError) -> Marks.Move? {
        try await feed.markConsumed(through: time)
    }

    /// The present state and each later state. A slow reader skips to the newest state.
    public var states: TypedFeedStates<Item> { TypedFeedStates(feed: feed) }

    /// The changes of the shown state. The first diff inserts all items. A slow reader gets a
    /// single diff for all changes since its last.
    public var diffs: FeedDiffs<Item> { FeedDiffs(feed: feed) }
}

/// An item of a typed feed.
public struct TypedItem<Item: Sendable>: Identifiable, Sendable {
    public let value: Item
    public let item: FeedItem

    /// The document's path.
    public var id: String { item.id }
    public var time: Timestamp { item.time }
    public var isUnread: Bool { item.isUnread }
    public var hasPendingWrites: Bool { item.hasPendingWrites }
}

/// An item that could not be decoded.
public struct UndecodableItem: Hashable, Sendable, Identifiable {
    public let item: FeedItem
    /// The reason, for a developer.
    public let reason: String
    public var id: String { item.id }
}

/// The state of a typed feed at a moment.
public struct TypedFeedState<Item: Sendable>: Sendable {
    /// The items, newest first, each once.
    public internal(set) var items: [TypedItem<Item>] = []
    /// The items of the window that could not be decoded; they are not in ``items``.
    public internal(set) var undecodable: [UndecodableItem] = []
    public internal(set) var hasMore = false
    /// The number of unread items among all held items, including the items that cannot be decoded.
    public internal(set) var unreadCount = 0
    public internal(set) var phase = FeedPhase.loading
    /// The number of the feed's state.
    var number = 0
}

/// Decodes the shown items, each version of a document once.
struct FeedDecoding<Item: Decodable & Sendable>: Sendable {
    private enum Decoded: Sendable {
        case value(Item)
        case failed(String)
    }

    private var known: [String: (document: QueryDocumentSnapshot, decoded: Decoded)] = [:]

    mutating func decode(_ state: FeedState) -> TypedFeedState<Item> {
        var result = TypedFeedState<Item>()
        result.hasMore = state.hasMore
        result.unreadCount = state.unreadCount
        result.phase = state.phase
        var next: [String: (document: QueryDocumentSnapshot, decoded: Decoded)] = [:]
        next.reserveCapacity(state.items.count)
        result.items.reserveCapacity(state.items.count)
        for item in state.items {
            let entry = known[item.id].flatMap { $0.document == item.document ? $0 : nil }
            let decoded = entry?.decoded ?? Self.decode(item.document)
            next[item.id] = (item.document, decoded)
            switch decoded {
            case .value(let value): result.items.append(TypedItem(value: value, item: item))
            case .failed(let reason):
                result.undecodable.append(UndecodableItem(item: item, reason: reason))
            }
        }
        known = next
        return result
    }

    private static func decode(_ document: QueryDocumentSnapshot) -> Decoded {
        do { return .value(try document.data(as: Item.self)) } catch {
            return .failed("\(error)")
        }
    }
}

/// The present state of a typed feed and each later state.
public struct TypedFeedStates<Item: Decodable & Sendable>: AsyncSequence, Sendable {
    public typealias Element = TypedFeedState<Item>
    public typealias Failure = Never

    let feed: Feed

    public struct AsyncIterator: AsyncIteratorProtocol {
        var states: FeedStates.AsyncIterator
        var decoding = FeedDecoding<Item>()

        public mutating func next(
            isolation: isolated (any Actor)? = #isolation
        ) async -> TypedFeedState<Item>? {
            guard let state = await states.numbered(isolation: isolation) else { return nil }
            var decoded = decoding.decode(state.state)
            decoded.number = state.number
            return decoded
        }
    }

    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(states: feed.states.makeAsyncIterator())
    }
}
