public import Observation
public import Tidemark

/// A ``TypedFeed`` for a view to bind to.
@MainActor @Observable
public final class FeedModel<Item: Decodable & Sendable> {
    /// Newest first.
    public private(set) var items: [TypedItem<Item>] = []
    /// Those that could not be decoded.
    public private(set) var undecodable: [UndecodableItem] = []
    public private(set) var unreadCount = 0
    /// Whether the device holds more, for ``loadMore(_:)``.
    public private(set) var hasMore = false
    /// A skeleton can be drawn while it is `loading`.
    public private(set) var phase = FeedPhase.loading
    /// Whether what it shows counts as seen by the user: set it while its view is on the screen. The
    /// consumption mark goes to the newest item that is shown and that the server has. Off by default.
    /// Costs no reads; a write for each move where the mark is shared.
    public var consumesWhatIsShown: Bool {
        didSet { consume() }
    }

    @ObservationIgnored private var consumed: Timestamp?
    /// Of the state that is shown; nil once no other one will be.
    @ObservationIgnored private var shown: Int? = -1
    @ObservationIgnored private var waiting: [(number: Int, CheckedContinuation<Void, Never>)] = []
    @ObservationIgnored private let feed: TypedFeed<Item>
    @ObservationIgnored private var tasks: [Task<Void, Never>] = []

    /// Shows what the device holds, and keeps it up to date while the model is there.
    ///
    /// - Parameters:
    ///   - feed: The feed to show.
    ///   - isLive: Whether to listen. If false, only ``refresh()`` brings the feed up to date.
    ///   - consumesWhatIsShown: Whether what it shows counts as seen by the user.
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
            // What fails is shown as the phase.
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

    /// Brings it up to date now; what fails is the phase. It returns when the model shows what came.
    public func refresh() async {
        _ = try? await feed.feed.sync()
        await untilShown()
    }

    /// Makes the list longer. It returns when the model shows what came.
    public func loadMore(_ count: Int = 50) async throws(FirestoreError) {
        try await feed.feed.loadMore(count)
        await untilShown()
    }

    /// Hides all that is shown, for good. It returns when the model shows nothing of it.
    public func clear() async throws(FirestoreError) {
        try await feed.clear()
        await untilShown()
    }

    public func markConsumed(through time: Timestamp? = nil) async throws(FirestoreError) {
        try await feed.markConsumed(through: time)
    }

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

    /// Waits for the state that the feed has now, or a later one.
    private func untilShown() async {
        let number = await feed.feed.stateNumber
        guard let shown, shown < number else { return }
        await withCheckedContinuation { waiting.append((number, $0)) }
    }

    private func end() {
        shown = nil
        for (_, continuation) in waiting { continuation.resume() }
        waiting = []
    }

    /// Up to the newest item that the server has, and never for the same one twice: what came since is
    /// another state. A mark that could not be stored is moved with the next item.
    private func consume() {
        guard consumesWhatIsShown, let newest = items.first(where: { !$0.hasPendingWrites }),
            newest.isUnread, consumed.map({ $0 < newest.time }) ?? true
        else { return }
        let (feed, time) = (feed, newest.time)
        consumed = time
        Task { try? await feed.markConsumed(through: time) }
    }
}
