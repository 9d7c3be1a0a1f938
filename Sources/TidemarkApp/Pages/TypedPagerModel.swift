public import Observation
public import Tidemark

/// A ``Pager`` of values of a Swift type, for a view to bind to.
///
/// A document is decoded when it comes and when it changes, not each time the list does. One that is no
/// `Item` is left out and named in ``undecodable``: a single bad document takes nothing else with it.
@MainActor @Observable
public final class TypedPagerModel<Item: Decodable & Sendable> {
    /// Oldest first.
    public private(set) var items: [Item] = []
    /// Why documents could not be decoded, by path.
    public private(set) var undecodable: [DocumentPath: String] = [:]
    public private(set) var isLoadingMore = true
    public private(set) var hasMore = true
    public private(set) var isFromCache = true
    /// Why the last page did not come; ``loadMore()`` asks again.
    public private(set) var error: FirestoreError?

    private struct Decoded {
        let document: Document?
        let item: Result<Item, any Error>
    }

    @ObservationIgnored private let pager: Pager
    @ObservationIgnored private let decoder: Firestore.Decoder
    @ObservationIgnored private var decoded: [DocumentPath: Decoded] = [:]
    @ObservationIgnored private var watching: Task<Void, Never>?

    /// Begins to listen; ends with the model.
    public init(
        _ pager: Pager, as type: Item.Type = Item.self,
        decoder: Firestore.Decoder = Firestore.Decoder()
    ) {
        self.pager = pager
        self.decoder = decoder
        let states = pager.states
        watching = Task { [weak self] in
            for await state in states { self?.show(state) }
        }
    }

    deinit { watching?.cancel() }

    public func loadMore() { pager.loadMore() }

    private func show(_ state: PagerState) {
        var next: [DocumentPath: Decoded] = [:]
        var shown: [Item] = []
        var failed: [DocumentPath: String] = [:]
        for snapshot in state.chronological {
            let path = snapshot.documentPath
            let row =
                decoded[path].flatMap { $0.document == snapshot.document ? $0 : nil }
                ?? Decoded(
                    document: snapshot.document,
                    item: Result { try snapshot.data(as: Item.self, decoder: decoder) })
            next[path] = row
            switch row.item {
            case .success(let item): shown.append(item)
            case .failure(let error): failed[path] = "\(error)"
            }
        }
        decoded = next
        items = shown
        undecodable = failed
        isLoadingMore = state.isLoadingMore
        hasMore = state.hasMore
        isFromCache = state.isFromCache
        error = state.error
    }
}
