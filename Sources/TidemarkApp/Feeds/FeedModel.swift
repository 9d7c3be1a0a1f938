public import Observation
public import Tidemark

/// A ``TypedFeed`` that a view can bind to.
@MainActor @Observable
public final class FeedModel<Item: Decodable & Sendable> {
    /// The items, newest first.
    public private(set) var items: [TypedItem<Item>] = []
    /// The items that could not be decoded.
    public private(set) var undecodable: [UndecodableItem] = []
    public private(set) var unreadCount = 0
    /// True if ``loadMore(_:)`` can show more items that the device has.
    public private(set) var hasMore = false
    /// The phase. A view can draw a skeleton while the phase is `loading`.
    public private(set) var phase = FeedPhase.loading
    /// True if shown items count as seen by the user. Set it while the view is on the screen. The
    /// consumption mark moves to the newest shown item that the server has. The default is false.
    /// Costs no reads, and a write for each move if the mark is shared.
    public var consumesWhatIsShown: Bool {
        didSet { consume() }
    }

    @ObservationIgnored private var consumed: Timestamp?
    /// The number of the shown state; nil after the last state.
    @ObservationIgnored private var shown: Int? = -1
    @ObservationIgnored private var waiting: [(number: Int, CheckedContinuation<Void, Never>)] = []
    @ObservationIgnored let feed: TypedFeed<Item>
    @ObservationIgnored private var tasks: [Task<Void, Never>] = []

    /// Shows the items that the device has, and updates them until the model is released.
    ///
    /// - Parameters:
    ///   - feed: The feed to show.
    ///   - isLive: True to listen. If false, only ``refresh()`` updates the feed.
    ///   - consumesWhatIsShown: True if shown items count as seen by the user.
    public init(
        _ feed: TypedFeed<Item>, isLive: Bool = true, consumesWhatIsShown: Bool = false
    ) {
        self.feed = feed
        self.consumesWhatIsShown = consumesWhatIsShown
        let states = feed.states
        tasks = [
            Task { [weak self] in
                for await state in states { self?.show(state) }
                self?.end()
            },
            // The phase shows an error of the feed.
            Task {
                if isLive { try? await feed.start() } else { _ = try? await feed.feed.open() }
            },
        ]
    }

    deinit {
        for task in tasks { task.cancel() }
        let feed = feed.feed
        Task { await feed.stopListening() }
    }

    /// Updates the feed now. The phase shows an error. Returns after the model shows the result.
    public func refresh() async {
        _ = try? await feed.feed.sync()
        await untilShown()
    }

    /// Shows more items. Returns after the model shows them.
    public func loadMore(_ count: Int = 50) async throws(FirestoreError) {
        try await feed.feed.loadMore(count)
        await untilShown()
    }

    /// Hides all shown items permanently. Returns after the model has removed them.
    public func clear() async throws(FirestoreError) {
        try await feed.clear()
        await untilShown()
    }

    public func markConsumed(through time: Timestamp? = nil) async throws(FirestoreError) {
        try await feed.markConsumed(through: time)
    }

    /// Returns when the feed listens and the server has answered the listener.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    package func untilLive() async throws { try await feed.feed.untilLive() }

    private func show(_ state: TypedFeedState<Item>) {
        items = state.items
        undecodable = state.undecodable
        unreadCount = state.unreadCount
        hasMore = state.hasMore
        phase = state.phase
        shown = state.number
        let done = waiting.filter { $0.number <= state.number }
        waiting.removeAll { $0.number <= state.number }
        for (_, continuation) in done { continuation.resume() }
        consume()
    }

    /// Waits until the model shows the present state of the feed or a later state.
    func untilShown() async {
        let number = await feed.feed.stateNumber
        guard let shown, shown < number else { return }
        await withCheckedContinuation { waiting.append((number, $0)) }
    }

    private func end() {
        shown = nil
        for (_, continuation) in waiting { continuation.resume() }
        waiting = []
    }

    /// Moves the consumption mark to the newest item that the server has, at most once for each
    /// item. If a mark could not be stored, the next item moves it.
    private func consume() {
        guard consumesWhatIsShown, let newest = items.first(where: { !$0.hasPendingWrites }),
            newest.isUnread, consumed.map({ $0 < newest.time }) ?? true
        else { return }
        let (feed, time) = (feed, newest.time)
        consumed = time
        Task { try? await feed.markConsumed(through: time) }
    }
}
