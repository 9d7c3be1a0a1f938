public import Observation
public import Tidemark
public import TidemarkApp

/// A list in pages for a screen to bind to: its values, and where they stand with the server.
@MainActor @Observable
public final class PagedList<Item: Decodable & Sendable> {
    /// After this long without an answer the person is told, and may ask again.
    public static var patience: Duration { .seconds(10) }

    public let pages: TypedPagerModel<Item>
    private var isOverdue = false
    /// Whether what was refused has been asked for once more.
    private var isAskedAgain = false
    /// When the server last confirmed what is shown.
    private var confirmed: Timestamp?

    @ObservationIgnored let pager: Pager
    @ObservationIgnored private let firestore: Firestore
    @ObservationIgnored private let clock: any Clock<Duration>
    @ObservationIgnored private var waiting: Task<Void, Never>?
    @ObservationIgnored private var watching: Task<Void, Never>?
    @ObservationIgnored private var askingAgain: Task<Void, Never>?

    /// Begins to listen; ends with ``close()``.
    ///
    /// - Parameters:
    ///   - pager: The pages.
    ///   - firestore: Their client.
    ///   - clock: Measures ``patience``.
    public init(
        _ pager: Pager, of firestore: Firestore, clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.pager = pager
        self.firestore = firestore
        self.clock = clock
        pages = TypedPagerModel(pager)
        let states = pager.states
        watching = Task { [weak self] in
            for await state in states {
                if state.error?.code == .permissionDenied { self?.askAgain() }
                if !state.isFromCache, let time = state.items.first?.readTime {
                    self?.confirmed = time
                }
            }
        }
        wait()
    }

    deinit {
        waiting?.cancel()
        watching?.cancel()
        askingAgain?.cancel()
    }

    /// Oldest first.
    public var items: [Item] { pages.items }
    public var hasMore: Bool { pages.hasMore && !pages.items.isEmpty }
    public var phase: PagePhase {
        if !items.isEmpty {
            return pages.isFromCache ? .stale(since: confirmed) : .fresh
        }
        if let error = pages.error {
            if isAskedAgain || error.code != .permissionDenied { return .failed(error) }
        } else if !pages.isFromCache, !pages.isLoadingMore {
            return .fresh
        }
        return isOverdue ? .failed(FirestoreError(.unavailable, "No answer yet.")) : .loading
    }

    /// As the last row appears: never two loads at once. After an error it asks for the same again.
    public func loadMore() { pages.loadMore() }

    /// The way out of ``PagePhase/failed(_:)``.
    public func tryAgain() {
        firestore.networkMayBeBack()
        if pages.error != nil { pages.loadMore() }
        wait()
    }

    public func close() {
        waiting?.cancel()
        askingAgain?.cancel()
        pager.close()
    }

    /// The rules know nobody of a conversation that this device began, until the server has it. So what is
    /// refused is asked once more, when the writes of this device have been sent.
    private func askAgain() {
        guard askingAgain == nil else { return }
        askingAgain = Task { [weak self, firestore] in
            try? await firestore.waitForPendingWrites()
            guard !Task.isCancelled, let self else { return }
            isAskedAgain = true
            if pages.error != nil { pages.loadMore() }
        }
    }

    private func wait() {
        isOverdue = false
        waiting?.cancel()
        waiting = Task { [weak self, clock] in
            try? await clock.sleep(for: Self.patience)
            if !Task.isCancelled { self?.isOverdue = true }
        }
    }
}

/// Where a list stands with the server.
public enum PagePhase: Hashable, Sendable {
    /// Nothing is known yet: draw a skeleton.
    case loading
    /// What the device holds, and when the server last confirmed it; nil where it has not since the
    /// app was launched.
    case stale(since: Timestamp?)
    /// The server's, and kept up to date. An empty list is really empty.
    case fresh
    /// Nothing to show, and why. ``PagedList/tryAgain()`` is the way out.
    case failed(FirestoreError)
}
