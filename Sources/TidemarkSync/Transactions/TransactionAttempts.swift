package import TidemarkModel

/// A commit whose answer was lost: it was applied, or was not, or still will be.
struct CommitInDoubt: Hashable, Sendable {
    /// The documents that the commit changes, with the versions that it requires. While one of the
    /// documents has this version, the commit was not applied. After another commit has changed
    /// one, it never will be.
    var guards: [DocumentPath: Timestamp?]
    let error: SyncError
}

/// Decides whether another attempt of a transaction may follow. The decision does not wait; the
/// caller waits.
///
/// A commit whose answer was lost may have been applied, and a second attempt could apply it twice.
/// Another attempt follows only if it and the lost commit exclude each other: both change the same
/// document and require the same version of it. Otherwise the transaction ends with the error of
/// the lost commit.
package struct TransactionAttempts: Sendable {
    package let limit: Int
    package private(set) var made = 0
    private var doubt: CommitInDoubt?
    private var backoff = StreamBackoff()
    #if TIDEMARK_DEFECTS
        private let defects: PlantedDefects
    #endif

    #if TIDEMARK_DEFECTS
        init(limit: Int, defects: PlantedDefects = []) {
            self.defects = defects
            self.limit = limit
            prepareBackoff()
        }
    #else
        init(limit: Int) {
            self.limit = limit
            prepareBackoff()
        }
    #endif

    /// The first attempt counts as an attempt; without this the second would follow without a
    /// delay.
    private mutating func prepareBackoff() { _ = backoff.nextDelay(elapsed: .zero, jitter: 0.5) }

    /// True if a commit was sent and its answer was lost.
    package var isInDoubt: Bool { doubt != nil }
    /// The error with which the transaction ends while a commit is in doubt, even if another step
    /// failed later.
    package var errorInDoubt: SyncError? { doubt?.error }

    package mutating func begin() -> TransactionAttempt {
        precondition(made < limit, "no attempt is left")
        made += 1
        #if TIDEMARK_DEFECTS
            var attempt = TransactionAttempt(
                after: defects.contains(.lostCommitRepeated) ? nil : doubt)
            attempt.defects = defects
            return attempt
        #else
            return TransactionAttempt(after: doubt)
        #endif
    }

    /// Notes a failed commit of an attempt; call this before ``mayFollow(_:failedWith:)``.
    package mutating func commitFailed(_ failure: CommitFailure, of attempt: TransactionAttempt) {
        guard failure.mayBeApplied else { return }
        var guards = attempt.guards
        // At most one of several lost commits was applied. A document that all of them change shows
        // the result of each.
        if let doubt { guards = guards.filter { doubt.guards[$0.key] == $0.value } }
        doubt = CommitInDoubt(guards: guards, error: failure.error.inDoubt)
    }

    /// Returns true if another attempt may follow a failed one.
    ///
    /// - Parameter code: The code of the error that the body threw, or of the commit's error.
    package func mayFollow(
        _ attempt: TransactionAttempt, failedWith code: RPCStatus.Code
    ) -> Bool {
        guard made < limit, code.isWorthAnotherAttempt, !attempt.isStuck else { return false }
        #if TIDEMARK_DEFECTS
            if defects.contains(.lostCommitRepeated) { return true }
        #endif
        return doubt.map { !$0.guards.isEmpty } ?? true
    }

    mutating func nextDelay(elapsed: Duration, jitter: Double) -> Duration {
        backoff.nextDelay(elapsed: elapsed, jitter: jitter)
    }
}

extension SyncError {
    /// The error of a commit in doubt. Its code does not claim that nothing was done.
    fileprivate var inDoubt: SyncError {
        guard case .server(var status) = self else { return self }
        let said = status.message
        if !status.code.leavesOpen { status.code = .unavailable }
        status.message =
            "The answer to the commit was lost: whether it was applied is not known. \(said)"
        return .server(status)
    }
}
