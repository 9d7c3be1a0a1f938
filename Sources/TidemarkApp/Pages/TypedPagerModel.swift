public import Observation
public import Tidemark

/// A ``Pager`` of values of a Swift type that a view can bind to.
///
/// ```swift
/// for row in model.rows {
///     show(row.value, isSending: row.isPending, hasFailed: row.isFailed)
///     model.loadMoreIfNeeded(at: row.id)  // as the row appears
/// }
/// ```
///
/// A document is decoded when it arrives and when it changes, not at each change of the list. A
/// document that cannot be decoded as `Item` is left out and named in ``undecodable``; it has no
/// effect on others. A row whose write the server refused keeps its place, as failed, until it is
/// sent again or discarded.
@MainActor @Observable
public final class TypedPagerModel<Item: Decodable & Sendable> {
    /// The rows, oldest first, with the state of this device's writes.
    public private(set) var rows: [PagerItem<Item>] = []
    /// The values of ``rows``.
    public private(set) var items: [Item] = []
    /// The scroll change for the last change of ``rows``, for a list that keeps its place.
    public private(set) var scroll = PagerScroll.stay
    /// The decoding errors of documents, by path.
    public private(set) var undecodable: [DocumentPath: String] = [:]
    public private(set) var isLoadingMore = true
    public private(set) var hasMore = true
    public private(set) var isFromCache = true
    /// The time as of which the server last confirmed the newest page; nil if that has not happened
    /// since the pager began.
    public private(set) var confirmed: Timestamp?
    /// The reason why the last page did not arrive; ``loadMore()`` requests it again.
    public private(set) var error: FirestoreError?

    private struct Decoded {
        let document: Document?
        let item: Result<Item, any Error>
    }

    @ObservationIgnored private let pager: Pager
    @ObservationIgnored private let decoder: Firestore.Decoder
    @ObservationIgnored private let writes: FailedWrites?
    @ObservationIgnored private var failures: [DocumentPath: FailedWrites.Failure] = [:]
    @ObservationIgnored private var shown: PagerState
    @ObservationIgnored private var decoded: [DocumentPath: Decoded] = [:]
    @ObservationIgnored private var watching: [Task<Void, Never>] = []

    /// Begins to listen, until the model is released.
    public init(
        _ pager: Pager, as type: Item.Type = Item.self,
        decoder: Firestore.Decoder = Firestore.Decoder()
    ) {
        self.pager = pager
        self.decoder = decoder
        writes = FailedWrites(pager)
        shown = pager.current
        let (states, writes) = (pager.states, writes)
        watching = [
            Task { [weak self] in
                for await state in states { self?.show(state) }
            },
            Task { [weak self] in
                guard let writes else { return }
                var hadSome = false
                // The same number can belong to other writes, because unread states are skipped.
                for await state in writes.counts where state.rejected > 0 || hadSome {
                    hadSome = state.rejected > 0
                    let failures = await writes.all()
                    self?.show(failures)
                }
            },
        ]
    }

    deinit { for task in watching { task.cancel() } }

    public func loadMore() { pager.loadMore() }

    /// Loads older rows if the appearing row is near the oldest.
    ///
    /// - Parameters:
    ///   - id: The id of the appearing row.
    ///   - distance: The distance from the oldest row, in rows, within which older rows are loaded.
    public func loadMoreIfNeeded(at id: String, within distance: Int = 10) {
        guard hasMore, !isLoadingMore else { return }
        if rows.prefix(max(1, distance)).contains(where: { $0.id.hasSameBytes(as: id) }) {
            loadMore()
        }
    }

    /// Returns the position of a row, for a list that opens there again; nil if the row is not
    /// shown, or if the pager is not ordered by a time.
    public func position(of id: String) -> ListPosition? {
        shown.items.first { $0.documentPath.text.hasSameBytes(as: id) }
            .flatMap { pager.time(of: $0) }.map { ListPosition(id: id, time: $0) }
    }

    /// Shows rows to a position at which the user left the list; see
    /// ``Pager/loadMore(to:atMost:)``. Returns after the model shows them.
    ///
    /// - Parameters:
    ///   - position: The position; nil does nothing.
    ///   - limit: The number of rows from which no more pages are loaded.
    /// - Returns: The id of the row to scroll to; nil to begin with the newest.
    public func loadMore(to position: ListPosition?, atMost limit: Int = 1_000) async -> String? {
        guard let position else { return nil }
        let id = await pager.loadMore(to: position, atMost: limit)
        show(pager.current)
        return id
    }

    /// Sends a refused write again. Does nothing for a row that has not failed.
    ///
    /// - Parameter row: A row that has failed.
    /// - Throws: The error of the disk.
    public func retry(_ row: PagerItem<Item>) async throws(FirestoreError) {
        guard let batch = row.batch, let writes else { return }
        try await writes.retry(batch)
        show(await writes.all())
    }

    /// Forgets a refused write, and removes its row. Does nothing for a row that has not failed.
    ///
    /// - Parameter row: A row that has failed.
    /// - Throws: The error of the disk.
    public func discard(_ row: PagerItem<Item>) async throws(FirestoreError) {
        guard let batch = row.batch, let writes else { return }
        try await writes.discard(batch)
        show(await writes.all())
    }

    private func show(_ failures: [DocumentPath: FailedWrites.Failure]) {
        self.failures = failures
        makeRows()
    }

    private func show(_ state: PagerState) {
        shown = state
        makeRows()
        isLoadingMore = state.isLoadingMore
        hasMore = state.hasMore
        isFromCache = state.isFromCache
        confirmed = state.confirmed
        error = state.error
    }

    private func makeRows() {
        var made: [PagerItem<Item>] = []
        made.reserveCapacity(shown.items.count)
        var failed: [DocumentPath: String] = [:]
        for document in documents() {
            let path = document.documentPath
            switch decode(document) {
            case .success(let value): made.append(row(value, document))
            case .failure(let error): failed[path] = "\(error)"
            }
        }
        // The decoded values of removed rows are released from time to time.
        if decoded.count > 2 * made.count + 1_000 {
            let paths = Set(shown.items.map(\.documentPath))
            decoded = decoded.filter { paths.contains($0.key) }
        }
        scroll = scroll(to: made)
        rows = made
        items = made.map(\.value)
        undecodable = failed
    }

    /// Returns the documents, oldest first, with refused documents at their places.
    private func documents() -> [QueryDocumentSnapshot] {
        let known = Array(shown.chronological)
        if failures.isEmpty { return known }
        let paths = Set(known.map(\.documentPath))
        let refused = failures.values
            .compactMap { failure in
                failure.position.flatMap { place in failure.document.map { (place, $0) } }
            }
            .filter { !paths.contains($0.0.path) }
            // Positions descend from the newest: this order puts the oldest first.
            .sorted { $1.0 < $0.0 }
        var result: [QueryDocumentSnapshot] = []
        var next = refused[...]
        let oldest = known.first.flatMap { writes?.position(of: $0) }
        // More rows follow below the oldest shown row.
        if shown.hasMore, let oldest { next = next.drop { oldest < $0.0 } }
        for document in known {
            if !next.isEmpty, let place = writes?.position(of: document) {
                while let first = next.first, place < first.0 {
                    result.append(first.1)
                    next = next.dropFirst()
                }
            }
            result.append(document)
        }
        return result + next.map(\.1)
    }

    private func decode(_ document: QueryDocumentSnapshot) -> Result<Item, any Error> {
        let path = document.documentPath
        if let known = decoded[path], known.document == document.document { return known.item }
        let item = Result { try document.data(as: Item.self, decoder: decoder) }
        decoded[path] = Decoded(document: document.document, item: item)
        return item
    }

    private func row(_ value: Item, _ document: QueryDocumentSnapshot) -> PagerItem<Item> {
        let path = document.documentPath
        let isPending = document.metadata.hasPendingWrites
        // A later write of the same document is pending.
        let failure = isPending ? nil : failures[path]
        let delivery: PagerItem<Item>.Delivery =
            failure.map { .failed($0.error) } ?? (isPending ? .pending : .delivered)
        return PagerItem(
            id: path.text, value: value, delivery: delivery, batch: failure?.batch)
    }

    private func scroll(to made: [PagerItem<Item>]) -> PagerScroll {
        guard let oldest = rows.first, let newest = rows.last else {
            return .toNewest(isOwn: false)
        }
        if let last = made.last, !last.id.hasSameBytes(as: newest.id) {
            return .toNewest(isOwn: last.isPending)
        }
        if let first = made.first, !first.id.hasSameBytes(as: oldest.id), made.count > rows.count {
            return .keep(oldest.id)
        }
        return .stay
    }
}
