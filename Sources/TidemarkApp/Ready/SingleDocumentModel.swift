public import Observation
public import Tidemark

/// A document that a view can bind to: its value, as in ``DocumentValues``, and its age.
@MainActor @Observable
public final class SingleDocumentModel<Value: Decodable & Equatable & Sendable> {
    public private(set) var state = DocumentState<Value>.unknown
    /// The freshness of the value; nil before anything is known.
    public private(set) var freshness: Freshness?
    /// The reason why the listener ended; ``retry()`` begins again. The known value stays.
    public private(set) var error: FirestoreError?

    public var value: Value? { state.value }

    @ObservationIgnored private let reference: DocumentReference
    @ObservationIgnored private let decoder: Firestore.Decoder
    @ObservationIgnored private var watching: Task<Void, Never>?

    /// Begins to listen, until the model is released.
    public init(
        _ reference: DocumentReference, decoder: Firestore.Decoder = Firestore.Decoder()
    ) {
        self.reference = reference
        self.decoder = decoder
        watch()
    }

    deinit { watching?.cancel() }

    /// Listens again after an error.
    public func retry() {
        guard error != nil else { return }
        error = nil
        watch()
    }

    private func watch() {
        watching = Task { [weak self, reference, decoder] in
            do throws(FirestoreError) {
                for try await snapshot in reference.snapshots(includeMetadataChanges: true) {
                    self?.show(
                        try DocumentState<Value>(snapshot, decoder), snapshot.freshness)
                }
            } catch {
                if error.code != .cancelled { self?.error = error }
            }
        }
    }

    /// Sets only changed properties, so that equal values redraw no view.
    private func show(_ state: DocumentState<Value>, _ freshness: Freshness) {
        if self.state != state { self.state = state }
        if self.freshness != freshness { self.freshness = freshness }
    }
}
