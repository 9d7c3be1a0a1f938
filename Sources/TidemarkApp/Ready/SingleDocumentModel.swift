public import Observation
public import Tidemark

/// ``DocumentValues`` for a view to bind to.
@MainActor @Observable
public final class SingleDocumentModel<Value: Decodable & Equatable & Sendable> {
    public private(set) var state = DocumentState<Value>.unknown
    /// Why nothing more comes; ``retry()`` begins again. What was known stays.
    public private(set) var error: FirestoreError?

    public var value: Value? { state.value }

    @ObservationIgnored private let values: DocumentValues<Value>
    @ObservationIgnored private var watching: Task<Void, Never>?

    /// Begins to listen; ends with the model.
    public init(
        _ reference: DocumentReference, decoder: Firestore.Decoder = Firestore.Decoder()
    ) {
        values = reference.values(as: Value.self, decoder: decoder)
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
        watching = Task { [weak self, values] in
            do throws(FirestoreError) {
                for try await state in values { self?.state = state }
            } catch {
                if error.code != .cancelled { self?.error = error }
            }
        }
    }
}
