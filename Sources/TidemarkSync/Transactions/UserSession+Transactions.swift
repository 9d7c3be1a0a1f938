package import TidemarkModel
import TidemarkResilience

// The parts of clients' transactions: reads and commits that only the server answers, without the
// cache and the queue. All parts of a transaction belong to one user: another user cannot commit
// them.

/// The reason why a commit failed.
package struct CommitFailure: Error, Hashable, Sendable {
    package let error: SyncError
    /// True if the commit was sent and its answer was lost: it was applied, or was not, or still
    /// will be.
    package let mayBeApplied: Bool

    package init(_ error: SyncError, mayBeApplied: Bool) {
        self.error = error
        self.mayBeApplied = mayBeApplied
    }
}

extension UserSession {
    /// Returns a transaction that has not begun.
    ///
    /// - Parameter attempts: The maximum number of attempts; at least 1.
    package func transaction(attempts: Int) -> TransactionAttempts {
        #if TIDEMARK_DEFECTS
            return TransactionAttempts(limit: attempts, defects: defects)
        #else
            return TransactionAttempts(limit: attempts)
        #endif
    }

    /// Reads documents from the server in the order of `paths`; nil for a document that does not
    /// exist.
    package func lookUp(
        _ paths: [DocumentPath], tag: ReadTag = ReadTag(),
        completion:
            @escaping @Sendable (Result<[(Document?, readTime: Timestamp)], SyncError>) ->
            Void
    ) {
        perform(completion, isOfQueue: true) { core in
            core.parts.fetches.lookUp(paths, tag: tag, completion: completion)
        }
    }

    /// Commits mutations on the server immediately, or fails. Nothing is queued.
    package func commit(
        _ mutations: [Mutation],
        completion: @escaping @Sendable (Result<Timestamp, CommitFailure>) -> Void
    ) {
        // This handles commits that are refused before they are sent.
        let end: @Sendable (Result<Timestamp, SyncError>) -> Void = { result in
            completion(result.mapError { CommitFailure($0, mayBeApplied: false) })
        }
        perform(end, isOfQueue: true) { core in
            core.parts.fetches.commit(mutations, completion)
        }
    }

    /// Reports true if the server is known to be unreachable, or must not be asked.
    package func checkOffline(completion: @escaping @Sendable (Bool) -> Void) {
        let refused: @Sendable (Result<Void, SyncError>) -> Void = { _ in completion(true) }
        perform(refused, isOfQueue: true) { completion($0.isOffline) }
    }

    /// Calls the completion when the next attempt may begin.
    package func waitForNextAttempt(
        of transaction: inout TransactionAttempts, completion: @escaping @Sendable () -> Void
    ) {
        let delay = transaction.nextDelay(elapsed: elapsed, jitter: jitter())
        _ = schedule(.transactionRetry, after: delay, completion)
    }
}

extension RPCStatus {
    /// True if a commit with this end may have been applied, because one of its attempts ended
    /// without an answer from the server.
    var leavesCommitOpen: Bool {
        code.leavesOpen
            || attempts.attempts.dropLast().contains {
                $0.outcome == Failure.Kind.transient.rawValue
            }
    }
}
