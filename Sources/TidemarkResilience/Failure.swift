/// What is known of why an attempt failed, as far as trying again is concerned.
public struct Failure: Hashable, Sendable {
    public enum Kind: String, Hashable, Sendable {
        /// May pass by itself: a connection that broke, a server that restarts.
        case transient
        /// Too much was asked of the server, or a quota is used up.
        case throttled
        /// The credentials are missing or old: worth one refresh, and one replay.
        case authentication
        /// The same request will fail again: malformed, forbidden, refused.
        case permanent
        /// Nothing is known; tried again as ``transient``.
        case unknown
        /// Somebody did not want the answer any more.
        case cancelled
    }

    /// What the server said of trying again. It wins over the policy's own delays.
    public enum Hint: Hashable, Sendable {
        /// Not before this long. A quota: until it is reset.
        case after(Duration)
        case never
    }

    public var kind: Kind
    public var hint: Hint?
    /// Whether the attempt is known to have changed nothing: it never left, or was refused as a whole.
    public var hadNoEffect: Bool

    public init(_ kind: Kind, hint: Hint? = nil, hadNoEffect: Bool = false) {
        self.kind = kind
        self.hint = hint
        self.hadNoEffect = hadNoEffect
    }
}

/// What being tried twice does to what a call is about.
public enum CallSafety: Hashable, Sendable {
    /// Changes nothing, and may also be hedged.
    case read
    /// Twice is as good as once: a write with a name of its own, or with a precondition.
    case idempotentWrite
    /// Twice is not once: an increment, an array that grows. Tried again only when the failed attempt
    /// is known to have had no effect.
    case write
}
