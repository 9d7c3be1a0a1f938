public import Tidemark

/// A ``Feed`` whose items are values of an app's own type: from the cache first, then what changed, then
/// live.
///
/// ```swift
/// let messages = try TypedFeed(of: Message.self, definition)
/// for await diff in messages.diffs {
///     list.apply(diff)
/// }
/// ```
///
/// An item is decoded once, and again when its document changes. One that cannot be decoded is told in
/// ``TypedFeedState/undecodable`` and hides no other.
public struct TypedFeed<Item: Decodable & Sendable>: Sendable {
    /// What it is made of, for all that has no type: marks, reads, phases and events.
    public let feed: Feed

    /// - Throws: `invalidArgument` when the definition makes no sense.
    public init(
        of type: Item.Type = Item.self, _ definition: FeedDefinition
    ) throws(FirestoreError) {
        feed = try Feed(definition)
    }

    /// A view of a feed that there is; both show the same window.
    public init(of type: Item.Type = Item.self, _ feed: Feed) { self.feed = feed }

    /// Shows what the device holds, at no read, and brings it up to date from then on: see
    /// ``Feed/startListening()``. Ends with ``Feed/stopListening()`` or with the feed.
    ///
    /// - Throws: What the disk answered. What the server answers is the phase.
    public func start() async throws(FirestoreError) {
        try await feed.open()
        await feed.startListening()
    }

    /// As ``Feed/clear(through:)``.
    @discardableResult
    public func clear(through time: Timestamp? = nil) async throws(FirestoreError) -> Marks.Move? {
        try await feed.clear(through: time)
    }

    /// As ``Feed/markConsumed(through:)``.
    @discardableResult
    public func markConsumed(
        through time: Timestamp? = nil
    ) async throws(FirestoreError) -> Marks.Move? {
        try await feed.markConsumed(through: time)
    }

    /// What is shown now, and as it changes. A slow reader skips to the newest.
    public var states: TypedFeedStates<Item> { TypedFeedStates(feed: feed) }

    /// How what is shown changes, beginning with all of it as inserted. A slow reader gets one diff of
    /// all that happened since its last.
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
    /// What was wrong, for a developer.
    public let reason: String
    public var id: String { item.id }
}

/// A typed feed at one moment.
public struct TypedFeedState<Item: Sendable>: Sendable {
    /// Newest first, each once.
    public internal(set) var items: [TypedItem<Item>] = []
    /// Those of the window that could not be decoded; they are not among the items.
    public internal(set) var undecodable: [UndecodableItem] = []
    public internal(set) var hasMore = false
    /// Of all that is held, those that cannot be decoded too.
    public internal(set) var unreadCount = 0
    public internal(set) var phase = FeedPhase.loading
    /// Of the feed's state that it is.
    var number = 0
}

/// Decodes what is shown, each version of a document once.
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

/// What a typed feed shows, now and as it changes.
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
