import Tidemark

/// A state, and the number of states that were shown before.
struct NumberedFeedState: Sendable {
    let number: Int
    let state: FeedState
}

/// The present state of a feed and each later state.
public struct FeedStates: AsyncSequence, Sendable {
    public typealias Element = FeedState
    public typealias Failure = Never

    let feed: Feed

    public struct AsyncIterator: AsyncIteratorProtocol {
        let feed: Feed
        var states: AsyncStream<NumberedFeedState>.Iterator?

        public mutating func next(
            isolation: isolated (any Actor)? = #isolation
        ) async -> FeedState? {
            await numbered(isolation: isolation)?.state
        }

        mutating func numbered(
            isolation: isolated (any Actor)? = #isolation
        ) async -> NumberedFeedState? {
            var states = if let states { states } else { await feed.watch().makeAsyncIterator() }
            let state = await states.next(isolation: isolation)
            self.states = states
            return state
        }
    }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(feed: feed) }
}
