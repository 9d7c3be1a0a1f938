import TidemarkSync

/// Puts the batches of FirebaseFirestore's store into a client's queue.
struct WriteMoving {
    private let firestore: Firestore

    init(_ firestore: Firestore) { self.firestore = firestore }

    func send(
        _ store: FirebaseStore, of user: String?
    ) async throws(FirestoreError) -> MovedWrites {
        let list = try list()
        let known = list.marks
        var moved = MovedWrites()
        for batch in store.batches(of: user) {
            if let reason = reason(against: batch) {
                moved.unsent.append(MovedWrites.Unsent(batch: batch, reason: reason))
            } else if try await queue(batch, known) {
                moved.queued.append(batch)
            } else {
                moved.queuedBefore.append(batch)
            }
        }
        list.add((moved.queued + moved.queuedBefore).map(\.mark).filter { !known.contains($0) })
        return moved
    }

    func left(in store: FirebaseStore) async throws(FirestoreError) -> [FirebaseStore.Batch] {
        let known = try list().marks
        var left: [FirebaseStore.Batch] = []
        for batch in store.batches where !known.contains(batch.mark) {
            let isTaken: Bool = try await answer {
                firestore.engine.wasTaken(batch.mark, completion: $0)
            }
            if !isTaken { left.append(batch) }
        }
        return left
    }

    /// Returns nil for a batch that can be sent.
    private func reason(against batch: FirebaseStore.Batch) -> FirestoreError? {
        if let problem = batch.problem { return problem }
        guard let database = batch.database, database != firestore.databaseID else { return nil }
        return .invalidArgument("The batch belongs to the database \(database.name).")
    }

    /// - Returns: True if this call has queued the batch; false if it was queued before.
    private func queue(
        _ batch: FirebaseStore.Batch, _ known: Set<String>
    ) async throws(FirestoreError) -> Bool {
        if known.contains(batch.mark) { return false }
        let moved = MovedBatch(
            mutations: batch.mutations, time: batch.time, mark: batch.mark, user: batch.user)
        let number: Int64? = try await answer { firestore.engine.take(moved, completion: $0) }
        return number != nil
    }

    /// - Throws: `failedPrecondition` for a cache in memory: a kill would lose the writes, and the
    ///   note.
    func list() throws(FirestoreError) -> MovedList {
        let client = firestore.started
        if let fault = client.fault { throw fault }
        guard let cache = client.settings.cacheFile(of: firestore.databaseID) else {
            throw FirestoreError(
                .failedPrecondition,
                """
                Writes can be moved only into a cache on disk, not into memory.
                """)
        }
        return MovedList(besides: cache)
    }
}
