public import TidemarkModel
public import TidemarkResilience

/// Firestore's rules for retries, by the status of a call.
///
/// Source: resilience 3, "Firestore service config".
public enum RetryTable: Hashable, Sendable {
    /// Lookups, queries and aggregations.
    case reads
    /// Commits, which are not repeated if they may have been applied.
    case writes

    public var codes: Set<RPCStatus.Code> {
        switch self {
        case .reads: [.resourceExhausted, .unavailable, .internal, .deadlineExceeded]
        case .writes: [.resourceExhausted, .unavailable]
        }
    }

    /// Classifies a status for retries.
    ///
    /// - Parameter now: The time on the server's clock. An exhausted quota lasts until its day
    ///   ends.
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
    /// The trailer in which a gRPC server sends the delay in milliseconds. A negative number or
    /// other text means never. Source: resilience 3 (gRPC A6).
    static let pushback = "grpc-retry-pushback-ms"

    fileprivate func retryHint(now: Timestamp) -> Failure.Hint? {
        if let text = trailers[Self.pushback] {
            guard let milliseconds = Int64(text), milliseconds >= 0 else { return .never }
            return .after(.milliseconds(milliseconds))
        }
        for case .retryAfter(let delay) in details { return .after(max(.zero, delay)) }
        // A daily quota returns exactly at the start of the next day.
        if code == .resourceExhausted, message.utf8.starts(with: "Quota exceeded".utf8) {
            return .after(BillingDay(now).end.duration(since: now))
        }
        return nil
    }
}

extension Mutation {
    /// True if applying the mutation twice has the effect of once, or the second application fails.
    var isIdempotent: Bool {
        switch precondition {
        case .exists(false), .updateTime: return true
        case .none, .exists(true): break
        }
        return transforms.allSatisfy { transform in
            switch transform.operation {
            // Repeating these operations would overwrite changes made by others in between.
            case .increment, .arrayUnion, .arrayRemove: false
            case .serverTimestamp, .maximum, .minimum: true
            }
        }
    }
}
