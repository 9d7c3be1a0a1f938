public import TidemarkModel
public import TidemarkResilience

/// What Firestore says of trying a call again, as values: by the code it ended with.
///
/// Source: resilience 3, "Firestore service config".
public enum RetryTable: Hashable, Sendable {
    /// Lookups, queries and aggregations.
    case reads
    /// Commits: what may have been applied is not sent again.
    case writes

    public var codes: Set<RPCStatus.Code> {
        switch self {
        case .reads: [.resourceExhausted, .unavailable, .internal, .deadlineExceeded]
        case .writes: [.resourceExhausted, .unavailable]
        }
    }

    /// What an end means for trying again.
    ///
    /// - Parameter now: By the server's clock: a quota that is used up is one until its day ends.
    public func failure(_ status: RPCStatus, now: Timestamp) -> Failure {
        switch status.code {
        case .unauthenticated: return Failure(.authentication, hadNoEffect: true)
        case .cancelled: return Failure(.cancelled)
        case let code where !codes.contains(code): return Failure(.permanent)
        case .resourceExhausted:
            return Failure(.throttled, hint: status.retryHint(now: now), hadNoEffect: true)
        default: return Failure(.transient, hint: status.retryHint(now: now))
        }
    }
}

extension RPCStatus {
    /// The trailer in which a gRPC server says how many milliseconds to wait. What is negative, or no
    /// number, means never. Source: resilience 3 (gRPC A6).
    static let pushback = "grpc-retry-pushback-ms"

    fileprivate func retryHint(now: Timestamp) -> Failure.Hint? {
        if let text = trailers[Self.pushback] {
            guard let milliseconds = Int64(text), milliseconds >= 0 else { return .never }
            return .after(.milliseconds(milliseconds))
        }
        for case .retryAfter(let delay) in details { return .after(max(.zero, delay)) }
        // A day's quota comes back with the next day, and not a moment before.
        if code == .resourceExhausted, message.utf8.starts(with: "Quota exceeded".utf8) {
            return .after(BillingDay(now).end.duration(since: now))
        }
        return nil
    }
}

extension Mutation {
    /// Whether applying it twice is as good as once, or is refused the second time.
    var isIdempotent: Bool {
        switch precondition {
        case .exists(false), .updateTime: return true
        case .none, .exists(true): break
        }
        return transforms.allSatisfy { transform in
            switch transform.operation {
            // Arrays and sums: what others did in between would be done over.
            case .increment, .arrayUnion, .arrayRemove: false
            case .serverTimestamp, .maximum, .minimum: true
            }
        }
    }
}
