import Dispatch
import Synchronization

/// A write that is in the durable queue: it will be sent, also after a kill of the app.
public final class WriteReceipt: Sendable {
    /// Its number in the queue.
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
    /// - Throws: Why the server refused the write. It is then undone on this device, and in
    ///   ``Firestore/rejectedWrites()``.
    @discardableResult
    public func acknowledged() async throws(FirestoreError) -> Timestamp {
        try await answer { finish in outcome.whenFinished(finish) }
    }
}

/// What becomes of a write after it was journalled, for all who wait for it.
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

extension Firestore {
    /// Journals mutations as one batch.
    package func enqueue(_ mutations: [Mutation]) async throws(FirestoreError) -> WriteReceipt {
        try await receipt { engine.write(mutations, observer: $0) }
    }

    /// Waits until a write that `start` makes is journalled.
    func receipt(
        _ start: (@escaping @Sendable (SyncEngine.WriteEvent) -> Void) -> Void
    ) async throws(FirestoreError) -> WriteReceipt {
        let outcome = WriteOutcome()
        let batch: Int64 = try await answer { finish in
            start { event in
                switch event {
                case .journalled(let batch): finish(.success(batch))
                case .acknowledged(let commitTime): outcome.finish(.success(commitTime))
                case .failed(let error):
                    // Before it was journalled this is the answer; after, the first one stands.
                    finish(.failure(error))
                    outcome.finish(.failure(error))
                }
            }
        }
        return WriteReceipt(batch: batch, outcome)
    }

    /// Journals mutations as one batch and waits for the server.
    package func commit(_ mutations: [Mutation]) async throws(FirestoreError) {
        try await enqueue(mutations).acknowledged()
    }

    /// For callers with a closure, or without one: those find what failed in the log.
    func commit(
        _ mutations: Result<[Mutation], FirestoreError>,
        _ completion: (@Sendable ((any Error)?) -> Void)?
    ) {
        let queue = callbackQueue
        let end: @Sendable (FirestoreError?) -> Void = { error in
            if let completion {
                queue.async { completion(error) }
            } else if let error {
                Log.fault("A write that nobody waits for failed: \(error)")
            }
        }
        switch mutations {
        case .failure(let error): end(error)
        case .success(let mutations):
            // Queued here and not in a task, so that writes keep the order of their calls.
            engine.write(mutations) { event in
                switch event {
                case .journalled: break
                case .acknowledged: end(nil)
                case .failed(let error): end(FirestoreError(error))
                }
            }
        }
    }
}
