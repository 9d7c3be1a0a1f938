// A replacement of a feed, as `ClientOnApple.swift` replaces the client.
import Synchronization
public import Tidemark

public enum FeedPhase: Hashable, Sendable {
    case loading
    case fresh(readTime: Timestamp)
}

public struct TypedItem<Item: Sendable>: Identifiable, Sendable {
    public let id: String
    public let value: Item
    public let time: Timestamp
    public let isUnread: Bool
    public let hasPendingWrites = false

    public init(stub id: String, _ value: Item, _ time: Timestamp, isUnread: Bool = false) {
        (self.id, self.value, self.time, self.isUnread) = (id, value, time, isUnread)
    }
}

public struct UndecodableItem: Sendable {}

public struct TypedFeedState<Item: Sendable>: Sendable {
    public var items: [TypedItem<Item>] = []
    public var undecodable: [UndecodableItem] = []
    public var hasMore = false
    public var unreadCount = 0
    public var phase = FeedPhase.loading
    var number = 0
    public init() {}
}

/// A feed that shows the states that a test sets.
public final class Feed: Sendable {
    private struct State {
        var states: [Int: AsyncStream<any Sendable>.Continuation] = [:]
        var current: (any Sendable)?
        /// The number of the current state; below the first number while there is none.
        var number = -1
        var last = 0
        var isListening = false
    }

    private let state = Mutex(State())

    public init() {}
    public func untilLive() async throws {}

    public var stubIsListening: Bool { state.withLock(\.isListening) }
    var isLive: Bool { get async { stubIsListening } }
    func setListening(_ isListening: Bool) { state.withLock { $0.isListening = isListening } }
    var stateNumber: Int { get async { state.withLock(\.number) } }
    func open() async throws(FirestoreError) {}
    func sync() async throws(FirestoreError) {}
    func loadMore(_ count: Int) async throws(FirestoreError) {}
    func stopListening() async { setListening(false) }

    public func stubShow<Item: Sendable>(_ shown: TypedFeedState<Item>) {
        let (states, shown) = state.withLock { state in
            var shown = shown
            state.number += 1
            shown.number = state.number
            state.current = shown
            return (state.states.values, shown)
        }
        for state in states { state.yield(shown) }
    }

    fileprivate func watch<Item: Sendable>() -> AsyncStream<TypedFeedState<Item>> {
        let (all, input) = AsyncStream.makeStream(of: (any Sendable).self)
        state.withLock { state in
            state.last += 1
            state.states[state.last] = input
            if let current = state.current { input.yield(current) }
        }
        return AsyncStream { typed in
            let task = Task {
                for await state in all {
                    if let state = state as? TypedFeedState<Item> { typed.yield(state) }
                }
            }
            typed.onTermination = { _ in task.cancel() }
        }
    }
}

public struct TypedFeed<Item: Decodable & Sendable>: Sendable {
    public let feed: Feed
    public init(of type: Item.Type = Item.self, _ feed: Feed) { self.feed = feed }
    public var states: AsyncStream<TypedFeedState<Item>> { feed.watch() }
    public func start() async throws(FirestoreError) { feed.setListening(true) }
    public func clear(through time: Timestamp? = nil) async throws(FirestoreError) {}
    public func markConsumed(through time: Timestamp? = nil) async throws(FirestoreError) {}
}
