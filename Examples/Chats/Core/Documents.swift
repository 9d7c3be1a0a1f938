public import Tidemark
import TidemarkApp
public import TidemarkFiles

/// A document `chats/{id}`: the members of a chat, and its last message.
public struct Chat: Codable, Identifiable, Hashable, Sendable {
    @DocumentID public var id: String?
    public var members: [String]
    public var title: String
    public var lastText: String
    /// The number of messages ever sent in this chat. The unread count is this number minus the
    /// count in ``Seen``.
    public var messageCount: Int
    @ServerTimestamp public var lastMessageAt: Timestamp?
    @ServerTimestamp public var updatedAt: Timestamp?
    public var deletedAt: Timestamp?

    public init(members: [String], title: String, lastText: String = "") {
        self.members = members
        self.title = title
        self.lastText = lastText
        messageCount = 0
    }
}

/// The document `users/{id}/state/seen`: for each chat, the number of messages that the user has
/// seen on any device.
public struct Seen: Codable, Hashable, Sendable {
    public var chats: [String: Int] = [:]
}

/// A document `chats/{id}/messages/{id}`. Every write sets `updatedAt`; a delete sets `deletedAt`.
public struct ChatMessage: Codable, Identifiable, Hashable, Sendable {
    @DocumentID public var id: String?
    public var author: String
    public var text: String
    /// The photo. It is in Storage before the message is sent.
    public var photo: StoredFile?
    /// The time by the clock of the device that wrote the message.
    public var sentAt: Timestamp
    @ServerTimestamp public var updatedAt: Timestamp?
    public var deletedAt: Timestamp?

    public init(author: String, text: String, sentAt: Timestamp) {
        self.author = author
        self.text = text
        self.sentAt = sentAt
    }
}

/// A document `users/{id}/notifications/{id}`.
public struct Notice: Codable, Identifiable, Hashable, Sendable {
    @DocumentID public var id: String?
    public var text: String
    @ServerTimestamp public var createdAt: Timestamp?
    @ServerTimestamp public var updatedAt: Timestamp?
    public var deletedAt: Timestamp?

    public init(text: String) { self.text = text }
}

/// An item of a rarely opened list that the service writes: `users/{id}/calls/{id}`,
/// `users/{id}/purchases/{id}`, `chats/{id}/media/{id}` or `activity/all/posts/{id}`. Each list has
/// its own time field: `startedAt`, `purchasedAt`, `sharedAt` or `createdAt`.
public struct Entry: Codable, Identifiable, Hashable, Sendable {
    @DocumentID public var id: String?
    public var author: String
    public var text: String
    @ServerTimestamp public var updatedAt: Timestamp?
    public var deletedAt: Timestamp?

    public init(author: String, text: String) {
        self.author = author
        self.text = text
    }
}

/// A document `users/{id}/state/{name}`: a report, settings, a subscription, a game or a call. Each
/// user has one of each.
public struct SingleState: Codable, Hashable, Sendable {
    public var state: String

    public init(_ state: String) { self.state = state }
}

/// A document `users/{id}`: the public data of a user. `searchName` is the normalised name, for the
/// search.
public struct Person: Codable, Identifiable, Hashable, Sendable {
    @DocumentID public var id: String?
    public var name: String
    public var searchName: String
    @ServerTimestamp public var updatedAt: Timestamp?

    public init(name: String) {
        self.name = name
        searchName = SearchText.normalized(name)
    }
}
