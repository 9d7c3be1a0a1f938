public import Observation
public import Tidemark
public import TidemarkApp

/// A list in pages to which a screen can bind: its values, and their relation to the server's data.
@MainActor @Observable
public final class PagedList<Item: Decodable & Sendable> {
    /// The time without an answer after which the list reports a failure and offers to try again.
    public static var patience: Duration { .seconds(10) }

    public let pages: TypedPagerModel<Item>
    private var isOverdue = false
    /// True if a denied read was repeated after all pending writes were sent.
    private var isAskedAgain = false

    @ObservationIgnored let pager: Pager
    @ObservationIgnored private let firestore: Firestore
    @ObservationIgnored private let clock: any Clock<Duration>
    @ObservationIgnored private var waiting: Task<Void, Never>?
    @ObservationIgnored private var watching: Task<Void, Never>?
    @ObservationIgnored private var askingAgain: Task<Void, Never>?

    /// Starts to listen; call ``close()`` to end.
    ///
    /// - Parameters:
    ///   - pager: The pages.
    ///   - firestore: The client of the pages.
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
            for await state in states where state.error?.code == .permissionDenied {
                self?.askAgain()
            }
        }
        wait()
    }

    deinit {
        waiting?.cancel()
        watching?.cancel()
        askingAgain?.cancel()
    }

    /// The items of all loaded pages, oldest first.
    public var items: [Item] { pages.items }
    public var hasMore: Bool { pages.hasMore && !pages.items.isEmpty }
    public var phase: PagePhase {
        if !items.isEmpty {
            return pages.isFromCache ? .stale(since: pages.confirmed) : .fresh
        }
        if let error = pages.error {
            if isAskedAgain || error.code != .permissionDenied { return .failed(error) }
        } else if !pages.isFromCache, !pages.isLoadingMore {
            return .fresh
        }
        return isOverdue ? .failed(FirestoreError(.unavailable, "No answer yet.")) : .loading
    }

    /// Loads the next page; call this when the last row appears. Two loads never run at the same
    /// time. After an error, the same page is requested again.
    public func loadMore() { pages.loadMore() }

    /// Tries again after ``PagePhase/failed(_:)``.
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

    /// Repeats a denied read once, after all pending writes were sent. The rules deny reads of a
    /// conversation that this device has created until the server has it.
    private func askAgain() {
        guard askingAgain == nil else { return }
        askingAgain = Task { [weak self, firestore] in
            try? await firestore.waitForPendingWrites()
            guard !Task.isCancelled, let self else { return }
            isAskedAgain = true
            // The model may not show the error yet.
            if pager.current.error != nil { pager.loadMore() }
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

/// The relation of a list to the server's data.
public enum PagePhase: Hashable, Sendable {
    /// No data is known yet: draw a skeleton.
    case loading
    /// The device's data, with the time of the server's last confirmation; nil if there was none
    /// since the launch.
    case stale(since: Timestamp?)
    /// The server's data, kept up to date. An empty list is really empty.
    case fresh
    /// There is nothing to show, because of this error. Call ``PagedList/tryAgain()`` to try again.
    case failed(FirestoreError)
}
