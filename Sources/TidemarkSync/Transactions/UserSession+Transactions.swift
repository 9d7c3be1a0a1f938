package import TidemarkModel
import TidemarkResilience

// What transactions of clients are made of: reads and commits that go to the server alone, past the
// cache and the queue. All of one transaction are of one user: what one has read, another does not
// commit.

/// Why a commit did not end well.
package struct CommitFailure: Error, Hashable, Sendable {
    package let error: SyncError
    /// Whether it was sent and no word of it came back: it was applied, or was not, or still will be.
    package let mayBeApplied: Bool

    package init(_ error: SyncError, mayBeApplied: Bool) {
        self.error = error
        self.mayBeApplied = mayBeApplied
    }
}

extension UserSession {
    /// A transaction that has not begun.
    ///
    /// - Parameter attempts: At least 1.
    package func transaction(attempts: Int) -> TransactionAttempts {
        #if TIDEMARK_DEFECTS
            return TransactionAttempts(limit: attempts, defects: defects)
        #else
            return TransactionAttempts(limit: attempts)
        #endif
    }

    /// Reads documents from the server, as they are there: in the order of `paths`, nil for one that
    /// does not exist.
    package func lookUp(
        _ paths: [DocumentPath], tag: ReadTag = ReadTag(),
        completion:
            @escaping @Sendable (Result<[(Document?, readTime: Timestamp)], SyncError>) ->
            Void
    ) {
        perform(completion, isOfQueue: true) { core in
            core.fetch { $0.lookUp(paths, tag, completion) }
        }
    }

    /// Commits mutations on the server at once, or fails; nothing is queued.
    package func commit(
        _ mutations: [Mutation],
        completion: @escaping @Sendable (Result<Timestamp, CommitFailure>) -> Void
    ) {
        // For what is refused before anything is sent.
        let end: @Sendable (Result<Timestamp, SyncError>) -> Void = { result in
            completion(result.mapError { CommitFailure($0, mayBeApplied: false) })
        }
        perform(end, isOfQueue: true) { core in
            core.fetch { $0.commit(mutations, completion) }
        }
    }

    /// Whether the server is known to be out of reach, or is not to be asked.
    package func whetherOffline(completion: @escaping @Sendable (Bool) -> Void) {
        let refused: @Sendable (Result<Void, SyncError>) -> Void = { _ in completion(true) }
        perform(refused, isOfQueue: true) { completion($0.isOffline) }
    }

    /// Calls back once the next attempt may begin.
    package func waitForNextAttempt(
        of transaction: inout TransactionAttempts, completion: @escaping @Sendable () -> Void
    ) {
        let delay = transaction.nextDelay(elapsed: elapsed, jitter: jitter())
        _ = schedule(.transactionRetry, after: delay, completion)
    }
}

extension RPCStatus {
    /// Whether a commit that ended so may have been applied: one of its attempts ended without the
    /// server's word on it.
    var leavesCommitOpen: Bool {
        code.leavesOpen
            || attempts.attempts.dropLast().contains {
                $0.outcome == Failure.Kind.transient.rawValue
            }
    }
}
