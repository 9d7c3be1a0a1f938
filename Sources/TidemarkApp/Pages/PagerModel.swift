public import Observation
public import Tidemark

/// A ``Pager`` that a view can bind to.
@MainActor @Observable
public final class PagerModel {
    /// The rows, oldest first.
    public private(set) var items: [QueryDocumentSnapshot] = []
    public private(set) var isLoadingMore = true
    public private(set) var hasMore = true
    public private(set) var isFromCache = true
    public private(set) var error: FirestoreError?

    @ObservationIgnored private let pager: Pager
    @ObservationIgnored private var watching: Task<Void, Never>?

    /// Begins to listen, until the model is released.
    public init(_ pager: Pager) {
        self.pager = pager
        let states = pager.states
        watching = Task { [weak self] in
            for await state in states { self?.show(state) }
        }
    }

    deinit { watching?.cancel() }

    public func loadMore() { pager.loadMore() }

    private func show(_ state: PagerState) {
        items = Array(state.chronological)
        isLoadingMore = state.isLoadingMore
        hasMore = state.hasMore
        isFromCache = state.isFromCache
        error = state.error
    }
}
