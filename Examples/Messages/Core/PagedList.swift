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

    @ObservationIgnored let pager: Pager
    @ObservationIgnored private let firestore: Firestore
    @ObservationIgnored private let clock: any Clock<Duration>
    @ObservationIgnored private var waiting: Task<Void, Never>?

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
        wait()
    }

    deinit { waiting?.cancel() }

    /// Oldest first.
    public var items: [Item] { pages.items }
    public var hasMore: Bool { pages.hasMore && !pages.items.isEmpty }
    public var phase: ListPhase {
        if !items.isEmpty {
            return pages.isFromCache ? .stale(since: pager.current.items.first?.readTime) : .fresh
        }
        if let error = pages.error { return .failed(error) }
        if !pages.isFromCache, !pages.isLoadingMore { return .fresh }
        return isOverdue ? .failed(FirestoreError(.unavailable, "No answer yet.")) : .loading
    }

    /// As the last row appears: never two loads at once. After an error it asks for the same again.
    public func loadMore() { pages.loadMore() }

    /// The way out of ``ListPhase/failed(_:)``.
    public func tryAgain() {
        firestore.networkMayBeBack()
        if pages.error != nil { pages.loadMore() }
        wait()
    }

    public func close() {
        waiting?.cancel()
        pager.close()
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
public enum ListPhase: Hashable, Sendable {
    /// Nothing is known yet: draw a skeleton.
    case loading
    /// What the device holds, and when the server last confirmed it; nil if it never did.
    case stale(since: Timestamp?)
    /// The server's, and kept up to date. An empty list is really empty.
    case fresh
    /// Nothing to show, and why. ``PagedList/tryAgain()`` is the way out.
    case failed(FirestoreError)
}
