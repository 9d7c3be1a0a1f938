import TidemarkStore

/// Manages the indexes on this device. Unlike FirebaseFirestore, Tidemark creates indexes by
/// default, after a query that examined far more documents than it returned.
public final class PersistentCacheIndexManager: Sendable {
    private let firestore: Firestore

    init(_ firestore: Firestore) { self.firestore = firestore }

    /// Creates indexes when queries need them, which is the default.
    public func enableIndexAutoCreation() { setMakesIndexes(true) }

    /// Creates no more indexes until the client ends. Existing indexes stay and are kept up to
    /// date.
    public func disableIndexAutoCreation() { setMakesIndexes(false) }

    /// Deletes all indexes, those of ``Firestore/setIndexConfiguration(_:)-(String)`` too.
    public func deleteAllIndexes() { firestore.engine.deleteIndexes(completion: Self.note) }

    /// Returns a sentence for each existing index.
    public func indexes() async throws(FirestoreError) -> [String] {
        let states: [IndexState] = try await answer { firestore.engine.indexes(completion: $0) }
        return states.map(\.definition.sentence)
    }

    /// Returns the word indexes of ``Firestore/setWordIndexes(_:)``, and whether each is filled.
    public func wordIndexes() async throws(FirestoreError) -> [(index: WordIndex, isReady: Bool)] {
        let states: [WordIndexState] = try await answer {
            firestore.engine.wordIndexes(completion: $0)
        }
        return states.map { state in
            let definition = state.definition
            return (
                WordIndex(
                    collectionID: definition.collectionID,
                    fields: definition.fields.map(\.encoded)), state.isReady
            )
        }
    }

    private func setMakesIndexes(_ isAutomatic: Bool) {
        firestore.engine.setMakesIndexes(isAutomatic, completion: Self.note)
    }

    private static func note(_ error: SyncError?) {
        if let error { Log.fault("The indexes are unchanged: \(FirestoreError(error))") }
    }
}
