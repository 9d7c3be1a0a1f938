public import TidemarkResilience

extension FirestoreError: RetryClassifiable {
    /// What it means for trying the whole call again. The client has tried again already what Firestore's
    /// own configuration names; an answer that was late, or no network, can still come.
    public var failure: Failure {
        // A budget lasts until tomorrow, and a disk does not mend by itself.
        if readBudget != nil || storageFault != nil { return Failure(.permanent) }
        switch code {
        case .unavailable, .deadlineExceeded, .internal: return Failure(.transient)
        case .aborted: return Failure(.transient, hadNoEffect: true)
        case .resourceExhausted:
            let isQuota = detail.utf8.starts(with: "Quota exceeded".utf8)
            return Failure(.throttled, hint: isQuota ? .never : nil, hadNoEffect: true)
        case .unauthenticated: return Failure(.authentication, hadNoEffect: true)
        case .cancelled: return Failure(.cancelled)
        case .unknown: return Failure(.unknown)
        case .OK, .invalidArgument, .notFound, .alreadyExists, .permissionDenied,
            .failedPrecondition, .outOfRange, .unimplemented, .dataLoss:
            return Failure(.permanent)
        }
    }
}
