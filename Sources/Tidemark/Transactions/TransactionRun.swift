import Synchronization

/// Runs a transaction's block and commits its writes, with as many attempts as needed.
struct TransactionRun {
    let firestore: Firestore
    let maxAttempts: Int

    func run<T: Sendable>(_ body: (Transaction) async throws -> T) async throws -> T {
        // A transaction is bound to a user session: another user must not commit the data that the
        // first user has read.
        let session = firestore.engine.session
        var attempts = session.transaction(attempts: maxAttempts)
        while true {
            let transaction = Transaction(firestore, session: session, attempt: attempts.begin())
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
            // A device that is known to be offline does not wait for four more attempts.
            let isOffline = await withCheckedContinuation { continuation in
                session.checkOffline { continuation.resume(returning: $0) }
            }
            if isOffline {
                throw attempts.errorInDoubt.map(FirestoreError.init)
                    ?? FirestoreError(
                        .unavailable,
                        """
                        A transaction needs the server, and the client is offline.
                        """)
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

/// The options of a transaction. This is a class, as in FirebaseFirestore, because apps set its
/// properties on a constant.
public final class TransactionOptions: Hashable, Sendable {
    private let attempts = Mutex(5)

    /// The maximum number of attempts, at least 1. Source of the default: client-engine 2.0.
    public var maxAttempts: Int {
        get { attempts.withLock { $0 } }
        set { attempts.withLock { $0 = newValue } }
    }

    public init() {}

    public static func == (left: TransactionOptions, right: TransactionOptions) -> Bool {
        left.maxAttempts == right.maxAttempts
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(maxAttempts) }
}

extension FirestoreErrorCode {
    fileprivate var status: RPCStatus.Code { RPCStatus.Code(rawValue: Int32(rawValue)) ?? .unknown }
}
