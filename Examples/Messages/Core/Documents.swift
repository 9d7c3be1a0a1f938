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
/// device holds is brought up to date at the price of what changed in it. `sentAt` is the time at which it
/// was written, by the device's clock: that is where it is shown, also before the server has it.
public struct Message: Codable, Identifiable, Hashable, Sendable {
    @DocumentID public var id: String?
    public var author: String
    public var text: String
    public var sentAt: Timestamp
    @ServerTimestamp public var updatedAt: Timestamp?
    public var deletedAt: Timestamp?

    public init(author: String, text: String, sentAt: Timestamp) {
        self.author = author
        self.text = text
        self.sentAt = sentAt
    }

    /// Whether it waits on this device: its last change has no time of the server's yet.
    public var isWaiting: Bool { updatedAt == nil }
}
