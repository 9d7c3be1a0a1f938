import Synchronization

/// A write in the durable queue. It will be sent, also after a kill of the app.
public final class WriteReceipt: Sendable {
    /// The number of the write in the queue.
    public let batch: Int64
    private let outcome: WriteOutcome

    init(batch: Int64, _ outcome: WriteOutcome) {
        self.batch = batch
        self.outcome = outcome
    }

    /// Waits until the server has applied the write.
    ///
    /// A cancelled task stops waiting; the write stays in the queue.
    ///
    /// - Returns: The commit time, by the server's clock.
    /// - Throws: The server's error. The write is then undone on this device, and added to
    ///   ``Firestore/rejectedWrites()``.
    @discardableResult
    public func acknowledged() async throws(FirestoreError) -> Timestamp {
        try await answer { finish in outcome.whenFinished(finish) }
    }
}

/// The outcome of a write after it was journalled, for all callers that wait for it.
final class WriteOutcome: Sendable {
    typealias Waiter = @Sendable (Result<Timestamp, SyncError>) -> Void

    private struct State {
        var result: Result<Timestamp, SyncError>?
        var waiters: [Waiter] = []
    }

    private let state = Mutex(State())

    func whenFinished(_ waiter: @escaping Waiter) {
        let result = state.withLock { state in
            if state.result == nil { state.waiters.append(waiter) }
            return state.result
        }
        if let result { waiter(result) }
    }

    func finish(_ result: Result<Timestamp, SyncError>) {
        let waiters = state.withLock { state in
            state.result = state.result ?? result
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter(result) }
    }
}
