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

/// `messages/{id}`: those of all conversations, of which each names its own.
///
/// Every write sets `updatedAt` to the server's time, and a delete sets `deletedAt`: so a page that the
/// device holds is brought up to date at the price of what changed in it. `timestamp` is the time at which it
/// was written, by the device's clock: that is where it is shown, also before the server has it.
public struct Message: Codable, Identifiable, Hashable, Sendable {
    @DocumentID public var id: String?
    public var conversationId: String
    public var author: String
    public var text: String
    public var timestamp: Timestamp
    @ServerTimestamp public var updatedAt: Timestamp?
    public var deletedAt: Timestamp?

    public init(in conversationId: String, author: String, text: String, timestamp: Timestamp) {
        self.conversationId = conversationId
        self.author = author
        self.text = text
        self.timestamp = timestamp
    }

    /// Whether it waits on this device: its last change has no time of the server's yet.
    public var isWaiting: Bool { updatedAt == nil }
}
