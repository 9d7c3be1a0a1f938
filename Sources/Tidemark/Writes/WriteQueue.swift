// The queue of writes, for an app that shows it or takes care of what was refused.

extension Firestore {
    /// The writes that wait for the server, in the order in which they will be sent.
    public func pendingWrites() async throws(FirestoreError) -> [PendingWrite] {
        try await answer { engine.pendingWrites(completion: $0) }
    }

    /// The writes that the server refused, oldest first. A refused write is undone on this device
    /// and kept with the reason until it is discarded or retried. The newest 1,000 are kept.
    public func rejectedWrites() async throws(FirestoreError) -> [RejectedWrite] {
        try await answer { engine.rejectedWrites(completion: $0) }
    }

    /// Removes a rejected write.
    public func discardRejectedWrite(_ batch: Int64) async throws(FirestoreError) {
        try await answer { (finish: @escaping @Sendable (Result<Void, SyncError>) -> Void) in
            engine.discardRejectedWrite(batch) { error in
                finish(error.map { .failure($0) } ?? .success(()))
            }
        }
    }

    /// Puts a rejected write at the end of the queue again.
    ///
    /// - Throws: `notFound` when there is none of this number.
    public func retryRejectedWrite(
        _ batch: Int64
    ) async throws(FirestoreError) -> WriteReceipt {
        try await receipt { engine.retryRejectedWrite(batch, observer: $0) }
    }

    /// The numbers of pending and rejected writes, now and after each change. Ends when the loop is
    /// left.
    public var writeQueueStates: AsyncStream<WriteQueueState> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { input in
            let handle = engine.observeWriteQueue { input.yield($0) }
            input.onTermination = { _ in handle.cancel() }
        }
    }
}
