/// The reason of a billed read.
public enum ReadCause: String, Hashable, Sendable, CaseIterable {
    /// A listener's documents: the first answer, and each change.
    case listen
    /// A single request for a document, a query or an aggregation.
    case get
    /// A page of a list or a feed.
    case page
    /// A count or a sum that checks whether the held rows are complete.
    case audit
    /// A document that left a listener's result, requested alone to learn the cause.
    case limbo
    /// A listener's result, requested again because the server counted other rows.
    case requery
}

/// The part of the app and the reason for which reads are counted. The tag belongs to every call,
/// and does not change the call's result.
public struct ReadTag: Hashable, Sendable {
    /// The part of the app that asks; nil for the client's label.
    public var label: String?
    /// The screen of the app.
    public var screen: String?
    /// The cause; nil if the call determines it.
    public var cause: ReadCause?

    public init(label: String? = nil, screen: String? = nil, cause: ReadCause? = nil) {
        self.label = label
        self.screen = screen
        self.cause = cause
    }

    /// Returns the tag, with this cause if the tag has none.
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
