public import Tidemark

extension Pager {
    /// Updates the newest page while the pager is not shown, for example after a push that names
    /// the conversation. Opening the pager afterwards shows the new rows with its first frame, and
    /// reads again only what has changed since.
    ///
    /// ```swift
    /// let newest = try await pager.sync(because: .push)
    /// ```
    ///
    /// The server sends the changes since the page was listened to last, if that was within the
    /// last 30 minutes, and the page otherwise. The cost is at most a page or
    /// ``SyncReason/maxReads``, whichever is smaller. The reads are counted under the reason's
    /// label, for which the app can set a `ReadBudget`. The pager does not begin to listen.
    ///
    /// - Parameter reason: The reason of the sync.
    /// - Returns: The rows of the newest page, newest first, without those that are marked as
    ///   deleted.
    /// - Throws: The error of the server; the error of a read if the server does not answer within
    ///   the client's deadline for reads; `cancelled` if the task is cancelled.
    @discardableResult
    public func sync(
        because reason: SyncReason
    ) async throws(FirestoreError) -> [QueryDocumentSnapshot] {
        let limit = min(pageSize, reason.maxReads)
        let result = await ReadTag.with(label: reason.label) { [self] in
            await newestPage(limit)
        }
        let snapshot = try result.get()
        pushed(snapshot, limit)
        return snapshot.documents.filter { !isDeleted($0) }
    }

    /// Listens to the newest page until the server has confirmed it.
    private func newestPage(_ limit: Int) async -> Result<QuerySnapshot, FirestoreError> {
        let (answers, input) = AsyncStream.makeStream(
            of: Result<QuerySnapshot, FirestoreError>.self)
        let page = newest(limit)
        let listener = page.addSnapshotListener(includeMetadataChanges: true) { snapshot, error in
            if let snapshot {
                if !snapshot.metadata.isFromCache { input.yield(.success(snapshot)) }
            } else {
                let error = error as? FirestoreError
                input.yield(.failure(error ?? FirestoreError(.internal, "A listener ended.")))
            }
        }
        let overdue = page.firestore.engine.session.awaitListener(
            deadline: page.firestore.readDeadline, tag: .current
        ) { input.yield(.failure(FirestoreError($0))) }
        defer {
            listener.remove()
            overdue.cancel()
        }
        for await answer in answers { return answer }
        return .failure(FirestoreError(.cancelled, "The task was cancelled."))
    }
}
