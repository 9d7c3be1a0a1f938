/// The cause of a failed attempt, as far as it matters for a retry.
public struct Failure: Hashable, Sendable {
    public enum Kind: String, Hashable, Sendable {
        /// A temporary failure: a broken connection, a server that restarts.
        case transient
        /// The server is overloaded, or a quota is used up.
        case throttled
        /// The credentials are missing or expired. One refresh and one more attempt are worthwhile.
        case authentication
        /// The same request will fail again: malformed, forbidden, rejected.
        case permanent
        /// The cause is not known. Retried like ``transient``.
        case unknown
        /// The caller no longer needs the answer.
        case cancelled
    }

    /// The server's instruction about retries. It overrides the policy's own delays.
    public enum Hint: Hashable, Sendable {
        /// Retry after this time at the earliest. For a quota, the time until its reset.
        case after(Duration)
        case never
    }

    public var kind: Kind
    public var hint: Hint?
    /// True if the attempt certainly changed nothing: it was never sent, or was rejected as a
    /// whole.
    public var hadNoEffect: Bool

    public init(_ kind: Kind, hint: Hint? = nil, hadNoEffect: Bool = false) {
        self.kind = kind
        self.hint = hint
        self.hadNoEffect = hadNoEffect
    }
}

/// The effect of performing a call twice.
public enum CallSafety: Hashable, Sendable {
    /// The call changes nothing. It can also be hedged.
    case read
    /// Performing the call twice has the same effect as once: a write with an id of its own or a
    /// precondition.
    case idempotentWrite
    /// Performing the call twice has another effect than once: an increment, an append to an array.
    /// Retried only if the failed attempt certainly had no effect.
    case write
}
