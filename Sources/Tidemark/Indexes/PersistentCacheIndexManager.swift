import TidemarkStore

/// Of the indexes on this device. Unlike FirebaseFirestore's, they are made on their own from the
/// start, once a query has looked at far more than it was for.
public final class PersistentCacheIndexManager: Sendable {
    private let firestore: Firestore

    init(_ firestore: Firestore) { self.firestore = firestore }

    /// Makes indexes when queries would do with them: as it is from the start.
    public func enableIndexAutoCreation() { setMakesIndexes(true) }

    /// Makes no more indexes, until the client ends. Those there are stay, and stay true.
    public func disableIndexAutoCreation() { setMakesIndexes(false) }

    /// Deletes all indexes, those of ``Firestore/setIndexConfiguration(_:)-(String)`` too.
    public func deleteAllIndexes() { firestore.engine.deleteIndexes(completion: Self.note) }

    /// Those there are, in a sentence each.
    public func indexes() async throws(FirestoreError) -> [String] {
        let states: [IndexState] = try await answer { firestore.engine.indexes(completion: $0) }
        return states.map(\.definition.sentence)
    }

    private func setMakesIndexes(_ isAutomatic: Bool) {
        firestore.engine.setMakesIndexes(isAutomatic, completion: Self.note)
    }

    private static func note(_ error: SyncError?) {
        if let error { Log.fault("The indexes stay as they are: \(FirestoreError(error))") }
    }
}
