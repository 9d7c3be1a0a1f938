import Tidemark

/// The source of a chat list's conversations.
enum ConversationSource: Sendable {
    case feed(Feed)
    case pager(Pager)

    /// The conversations at a moment.
    struct Rows: Sendable {
        var documents: [QueryDocumentSnapshot]
        var hasMore: Bool
        var phase: ListPhase
        /// The time as of which the conversations are complete; nil if they are incomplete.
        var readTime: Timestamp?
    }

    func open() async throws(FirestoreError) {
        if case .feed(let feed) = self { try await feed.open() }
    }

    func setLive(_ isLive: Bool) async {
        guard case .feed(let feed) = self else { return }
        if isLive { await feed.startListening() } else { await feed.stopListening() }
    }

    func sync() async throws(FirestoreError) {
        switch self {
        case .feed(let feed): try await feed.sync()
        case .pager(let pager): try await pager.refresh()
        }
    }

    func loadMore(_ count: Int) async throws(FirestoreError) {
        switch self {
        case .feed(let feed): try await feed.loadMore(count)
        case .pager(let pager): pager.loadMore()
        }
    }

    /// Calls `body` with the present conversations, and after each change, until the task is
    /// cancelled.
    func follow(_ body: (Rows) async -> Void) async {
        switch self {
        case .feed(let feed):
            for await state in feed.states { await body(Rows(state)) }
        case .pager(let pager):
            for await state in pager.states { await body(Rows(state)) }
        }
    }
}

extension ConversationSource.Rows {
    init(_ state: FeedState) {
        documents = state.items.map(\.document)
        hasMore = state.hasMore
        phase = ListPhase(state.phase, isEmpty: state.items.isEmpty)
        if case .fresh(let time) = state.phase { readTime = time }
    }

    init(_ state: PagerState) {
        documents = state.items
        hasMore = state.hasMore
        readTime = state.isFromCache ? nil : state.items.first?.readTime
        if let error = state.error {
            phase = .failed(error)
        } else if state.isFromCache {
            phase = state.items.isEmpty ? .loading : .stale(age: nil)
        } else {
            phase = state.items.isEmpty ? .empty : .fresh
        }
    }
}
