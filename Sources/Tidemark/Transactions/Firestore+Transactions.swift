import Dispatch

extension Firestore {
    /// Runs `body` and commits its writes, if no document that it read has changed meanwhile.
    ///
    /// Otherwise `body` runs again, after a delay that grows. A transaction needs the server: while
    /// the client is known to be offline, it throws `unavailable` after the first attempt. Costs
    /// one read for each document read, in each attempt.
    ///
    /// `body` may run several times and must change nothing but by the transaction. What it throws
    /// ends the transaction, unless it is a ``FirestoreError`` that may pass. Reads without writes
    /// commit nothing: each read is then true by itself.
    ///
    /// What is returned was committed once. Where the answer to a commit is lost, `body` runs again
    /// as long as it cannot be done twice: when a document that it reads and changes is still as it
    /// was. Else the transaction throws, with a ``FirestoreError/detail`` that says so: read again
    /// and decide.
    ///
    /// - Parameters:
    ///   - maxAttempts: How often `body` runs at most; at least 1.
    ///   - body: Reads first, then writes, all through the transaction that it is given.
    /// - Returns: What `body` returned in the attempt that was committed.
    /// - Throws: What `body` throws, or a ``FirestoreError``: `aborted` or `failedPrecondition`
    ///   when the documents kept changing, and nothing was committed; `unavailable`,
    ///   `deadlineExceeded`, `internal`, `unknown` or `dataLoss` when the server could not be
    ///   reached or its answer was lost; `cancelled` when the task was cancelled or the user
    ///   changed.
    public func runTransaction<T: Sendable>(
        maxAttempts: Int = 5, _ body: (Transaction) async throws -> T
    ) async throws -> T {
        guard maxAttempts > 0 else {
            throw FirestoreError.invalidArgument("A transaction needs at least one attempt.")
        }
        // What one user has read, the next one does not commit.
        let session = engine.session
        var attempts = session.transaction(attempts: maxAttempts)
        while true {
            let transaction = Transaction(self, session, attempts.begin())
            do {
                let result = try await body(transaction)
                let mutations = try transaction.take()
                if !mutations.isEmpty {
                    try await commit(mutations, session) { failure in
                        attempts.commitFailed(failure, of: transaction.attempt)
                    }
                }
                return result
            } catch {
                guard let error = error as? FirestoreError else { throw error }
                guard attempts.mayFollow(transaction.attempt, failedWith: error.code.status) else {
                    throw attempts.errorInDoubt.map(FirestoreError.init) ?? error
                }
            }
            // Who is known to be offline is not left waiting for four more attempts.
            let isOffline = await withCheckedContinuation { continuation in
                session.whetherOffline { continuation.resume(returning: $0) }
            }
            if isOffline {
                throw attempts.errorInDoubt.map(FirestoreError.init)
                    ?? FirestoreError(.unavailable, "A transaction needs the server: offline.")
            }
            try Task.checkCancellation()
            await withCheckedContinuation { continuation in
                session.waitForNextAttempt(of: &attempts) { continuation.resume() }
            }
        }
    }

    private func commit(
        _ mutations: [Mutation], _ session: UserSession,
        orElse noteFailure: (CommitFailure) -> Void
    ) async throws(FirestoreError) {
        let end: Result<Timestamp, CommitFailure> = try await answer { finish in
            session.commit(mutations) { finish(.success($0)) }
        }
        guard case .failure(let failure) = end else { return }
        noteFailure(failure)
        throw FirestoreError(failure.error)
    }
}

/// How a transaction is run.
public struct TransactionOptions: Hashable, Sendable {
    /// How often the block runs at most; at least 1.
    public var maxAttempts = 5

    public init() {}
}

extension Firestore {
    /// As ``runTransaction(maxAttempts:_:)``.
    public func runTransaction<T: Sendable>(
        with options: TransactionOptions, _ body: (Transaction) async throws -> T
    ) async throws -> T { try await runTransaction(maxAttempts: options.maxAttempts, body) }

    /// As the `async` form, for a block that waits for its reads: it is called on a background
    /// queue.
    ///
    /// - Parameters:
    ///   - options: Nil for the defaults.
    ///   - block: Reads first, then writes, all through the transaction that it is given.
    ///   - completion: Called on the listeners' queue, with what the block returned at its last
    ///     attempt.
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
    fileprivate var status: RPCStatus.Code { RPCStatus.Code(rawValue: Int32(rawValue)) ?? .unknown }
}
