public import Tidemark

/// `conversations/{id}`: who talks to whom, and what was said last.
public struct Conversation: Codable, Identifiable, Hashable, Sendable {
    @DocumentID public var id: String?
    public var members: [String]
    public var title: String
    /// Where the picture of the list is; nil for none.
    public var picture: String?
    public var lastText: String
    @ServerTimestamp public var lastMessageAt: Timestamp?
    @ServerTimestamp public var updatedAt: Timestamp?

    public init(members: [String], title: String, picture: String? = nil, lastText: String = "") {
        self.members = members
        self.title = title
        self.picture = picture
        self.lastText = lastText
    }
}

/// `conversations/{id}/messages/{id}`.
///
/// Every write sets `updatedAt` to the server's time, and a delete sets `deletedAt`: so a page that the
/// device holds is brought up to date at the price of what changed in it.
public struct Message: Codable, Identifiable, Hashable, Sendable {
    @DocumentID public var id: String?
    public var author: String
    public var text: String
    @ServerTimestamp public var sentAt: Timestamp?
    @ServerTimestamp public var updatedAt: Timestamp?
    public var deletedAt: Timestamp?

    public init(author: String, text: String) {
        self.author = author
        self.text = text
    }

    /// Whether it waits on this device: its time is the server's to set.
    public var isWaiting: Bool { sentAt == nil }
}
