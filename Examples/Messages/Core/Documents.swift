public import Tidemark

/// A document `conversations/{id}`: the members of a conversation, and its last message.
public struct Conversation: Codable, Identifiable, Hashable, Sendable {
    @DocumentID public var id: String?
    public var members: [String]
    public var title: String
    /// The address of the picture in the list; nil for none.
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

/// A document `messages/{id}`. The collection holds the messages of all conversations, and each
/// message names its own.
///
/// Every write sets `updatedAt` to the server's time, and a delete sets `deletedAt`. Because of
/// this, updating a page that the device holds costs only reads of its changes. `timestamp` is the
/// time of writing by the device's clock. It is the message's position, also before the server has
/// the message.
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

    /// True if the message waits on this device: its last change has no server time yet.
    public var isWaiting: Bool { updatedAt == nil }
}
