public import Tidemark
import TidemarkApp

/// `chats/{id}`: who talks, and what was said last.
public struct Chat: Codable, Identifiable, Hashable, Sendable {
    @DocumentID public var id: String?
    public var members: [String]
    public var title: String
    public var lastText: String
    /// Of all messages that were ever sent here: what is unread is what came since one has looked.
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

/// `users/{id}/state/seen`: for each chat the number of messages that its user has seen, on any device.
public struct Seen: Codable, Hashable, Sendable {
    public var chats: [String: Int] = [:]
}

/// `chats/{id}/messages/{id}`. Every write sets `updatedAt`; a delete sets `deletedAt`.
public struct ChatMessage: Codable, Identifiable, Hashable, Sendable {
    @DocumentID public var id: String?
    public var author: String
    public var text: String
    /// By the clock of the device that wrote it.
    public var sentAt: Timestamp
    @ServerTimestamp public var updatedAt: Timestamp?
    public var deletedAt: Timestamp?

    public init(author: String, text: String, sentAt: Timestamp) {
        self.author = author
        self.text = text
        self.sentAt = sentAt
    }
}

/// `users/{id}/notifications/{id}`.
public struct Notice: Codable, Identifiable, Hashable, Sendable {
    @DocumentID public var id: String?
    public var text: String
    @ServerTimestamp public var createdAt: Timestamp?
    @ServerTimestamp public var updatedAt: Timestamp?
    public var deletedAt: Timestamp?

    public init(text: String) { self.text = text }
}

/// A line of a list that is opened seldom, which the service writes: `users/{id}/calls/{id}`,
/// `users/{id}/purchases/{id}`, `chats/{id}/media/{id}`, `activity/all/posts/{id}`. Each list has a field of its
/// own for the time: `startedAt`, `purchasedAt`, `sharedAt`, `createdAt`.
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

/// `users/{id}/state/{name}`, for what there is one document of: a report, settings, a subscription, a game, a call.
public struct SingleState: Codable, Hashable, Sendable {
    public var state: String

    public init(_ state: String) { self.state = state }
}

/// `users/{id}`: what others see of a person. `searchName` is the normalised name, for the search.
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
