package import TidemarkModel

/// A commit whose answer was lost: it was applied, or was not, or still will be.
struct CommitInDoubt: Hashable, Sendable {
    /// What it changes, with the versions that it insists on. As long as one of the documents has its
    /// version the commit was not applied, and it never will be once another commit has changed one.
    var guards: [DocumentPath: Timestamp?]
    let error: SyncError
}

/// Which attempt of a transaction may follow which. Pure; what has to be waited for is the caller's.
///
/// A commit whose answer was lost may have been applied, and doing all of it again would do it twice.
/// Another attempt follows only as long as it and the lost one exclude each other: it finds a document
/// that the lost one changes as that one found it, and changes it too. Where that cannot be said, the
/// transaction ends with the error of the lost one.
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

    /// The first attempt is none of a row of failures: without it the second would follow at once.
    private mutating func prepareBackoff() { _ = backoff.nextDelay(elapsed: .zero, jitter: 0.5) }

    /// Whether a commit was sent of which no word came back.
    package var isInDoubt: Bool { doubt != nil }
    /// With what the transaction ends when a commit is in doubt, whatever else went wrong after it.
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

    /// To be called when the commit of an attempt failed, before ``mayFollow(_:failedWith:)``.
    package mutating func commitFailed(_ failure: CommitFailure, of attempt: TransactionAttempt) {
        guard failure.mayBeApplied else { return }
        var guards = attempt.guards
        // Of several lost ones at most one was applied, and what all of them change tells of each.
        if let doubt { guards = guards.filter { doubt.guards[$0.key] == $0.value } }
        doubt = CommitInDoubt(guards: guards, error: failure.error.inDoubt)
    }

    /// Whether another attempt may follow one that failed.
    ///
    /// - Parameter code: Of what its body threw, or of its commit.
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
    /// The same of a commit: with a code that does not tell that nothing was done.
    fileprivate var inDoubt: SyncError {
        guard case .server(var status) = self else { return self }
        let said = status.message
        if !status.code.leavesOpen { status.code = .unavailable }
        status.message =
            "The answer to the commit was lost: whether it was applied is not known. \(said)"
        return .server(status)
    }
}
