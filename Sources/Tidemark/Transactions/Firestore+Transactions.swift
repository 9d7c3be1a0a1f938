import Dispatch

extension Firestore {
    /// Runs `body`, and commits what it wrote if nothing that it read has changed meanwhile; else runs
    /// it again, after a wait that grows. Needs the server: known to be offline, it throws `unavailable`
    /// after the first attempt.
    ///
    /// `body` may run several times and must change nothing but by the transaction. What it throws ends
    /// the transaction, unless it is a ``FirestoreError`` that may pass. Reads without writes commit
    /// nothing: each read is then true by itself.
    ///
    /// - Parameter maxAttempts: At least 1. Source of the default: client-engine 2.0.
    /// - Throws: What `body` throws, or a ``FirestoreError``: `aborted` or `failedPrecondition` when the
    ///   documents kept changing.
    public func runTransaction<T: Sendable>(
        maxAttempts: Int = 5, _ body: (Transaction) async throws -> T
    ) async throws -> T {
        guard maxAttempts > 0 else {
            throw FirestoreError.invalidArgument("A transaction needs at least one attempt.")
        }
        var backoff = RetryBackoff()
        var attempt = 1
        while true {
            do {
                let transaction = Transaction(self)
                let result = try await body(transaction)
                let mutations = try transaction.take()
                if !mutations.isEmpty {
                    let _: Timestamp = try await answer { finish in
                        engine.commitDirectly(mutations, completion: finish)
                    }
                }
                return result
            } catch {
                guard attempt < maxAttempts, let error = error as? FirestoreError,
                    error.code.isWorthAnotherAttempt
                else { throw error }
            }
            // Who is known to be offline is not left waiting for four more attempts.
            let isOffline = await withCheckedContinuation { continuation in
                engine.whetherOffline { continuation.resume(returning: $0) }
            }
            if isOffline {
                throw FirestoreError(.unavailable, "A transaction needs the server: offline.")
            }
            attempt += 1
            try Task.checkCancellation()
            await withCheckedContinuation { continuation in
                engine.waitForRetry(&backoff) { continuation.resume() }
            }
        }
    }
}

/// How a transaction is run.
public struct TransactionOptions: Hashable, Sendable {
    /// At least 1. Source of the default: client-engine 2.0.
    public var maxAttempts = 5

    public init() {}
}

extension Firestore {
    /// As ``runTransaction(maxAttempts:_:)``.
    public func runTransaction<T: Sendable>(
        with options: TransactionOptions, _ body: (Transaction) async throws -> T
    ) async throws -> T { try await runTransaction(maxAttempts: options.maxAttempts, body) }

    /// As the `async` form, for a block that waits for its reads: it is called on a background queue.
    ///
    /// - Parameters:
    ///   - options: Nil for the defaults.
    ///   - completion: Called on the listeners' queue, with what the block returned at its last attempt.
    public func runTransaction<T: Sendable>(
        with options: TransactionOptions?,
        block: @escaping @Sendable (Transaction) throws -> T,
        completion: @escaping @Sendable (T?, (any Error)?) -> Void
    ) {
        let queue = callbackQueue
        let attempts = (options ?? TransactionOptions()).maxAttempts
        Task {
            do {
                let value = try await runTransaction(maxAttempts: attempts) { transaction in
                    // Not on the tasks' own threads, which a block that waits would use up.
                    try await withCheckedThrowingContinuation { continuation in
                        Self.blocks.async {
                            continuation.resume(with: Result { try block(transaction) })
                        }
                    }
                }
                queue.async { completion(value, nil) }
            } catch { queue.async { completion(nil, error) } }
        }
    }

    public func runTransaction<T: Sendable>(
        _ block: @escaping @Sendable (Transaction) throws -> T,
        completion: @escaping @Sendable (T?, (any Error)?) -> Void
    ) { runTransaction(with: nil, block: block, completion: completion) }

    private static let blocks = DispatchQueue(
        label: "tidemark.transactions", attributes: .concurrent)
}

extension FirestoreErrorCode {
    /// Source: client-engine 2.13, `core/core/transaction_runner.cc`: what tells of a conflict, and what
    /// is not known to be permanent.
    fileprivate var isWorthAnotherAttempt: Bool {
        switch self {
        case .aborted, .alreadyExists, .failedPrecondition: true
        case .unknown, .deadlineExceeded, .resourceExhausted, .internal, .unavailable,
            .unauthenticated:
            true
        case .OK, .cancelled, .invalidArgument, .notFound, .permissionDenied, .outOfRange,
            .unimplemented, .dataLoss:
            false
        }
    }
}
