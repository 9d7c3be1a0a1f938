/// What a billed read was for.
public enum ReadCause: String, Hashable, Sendable, CaseIterable {
    /// A listener's documents: the first answer, and each change.
    case listen
    /// A document, a query or an aggregation that was asked for once.
    case get
    /// A page of a list or a feed.
    case page
    /// A count, or a sum, that checks whether what is held is complete.
    case audit
    /// A document that a listener's result lost, asked for alone to find out why.
    case limbo
    /// A listener's result, asked for again because the server counted other rows.
    case requery
}

/// Whom and what reads are counted for: part of every call, and no part of what it returns.
public struct ReadTag: Hashable, Sendable {
    /// Which part of the app asks; nil for the client's own label.
    public var label: String?
    /// Where in the app.
    public var screen: String?
    /// Nil for what the call itself says.
    public var cause: ReadCause?

    public init(label: String? = nil, screen: String? = nil, cause: ReadCause? = nil) {
        self.label = label
        self.screen = screen
        self.cause = cause
    }

    /// The same where no cause was given.
    func or(_ cause: ReadCause) -> ReadTag {
        var tag = self
        tag.cause = tag.cause ?? cause
        return tag
    }

    func because(_ cause: ReadCause) -> ReadTag {
        var tag = self
        tag.cause = cause
        return tag
    }
}
