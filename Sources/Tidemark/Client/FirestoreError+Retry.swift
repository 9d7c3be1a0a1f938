public import TidemarkResilience

extension FirestoreError: RetryClassifiable {
    /// The class of the error for a retry of the whole call. The client has already retried the
    /// errors that Firestore's own configuration names; after a late answer or a network failure,
    /// another retry can still succeed.
    public var failure: Failure {
        // A budget lasts until tomorrow, and a disk does not recover without help.
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
