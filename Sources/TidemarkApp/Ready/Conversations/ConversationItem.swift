public import Tidemark

/// One row of a chat list.
public struct ConversationItem: Hashable, Sendable, Identifiable {
    /// The conversation itself.
    public let document: QueryDocumentSnapshot
    /// Nil before the first message.
    public let lastMessageAt: Timestamp?
    /// What the badge shows. At least 1 for a conversation whose last message was not seen.
    public let unreadCount: Int
    /// False where it is only known that there are unread messages: ``unreadCount`` is then 1.
    public let isUnreadCountExact: Bool
    /// Whether the user has written the last message.
    public let isLastMessageOwn: Bool

    let lastMessageField: String

    /// The conversation's document id.
    public var id: String { document.documentID }
    /// Whether there is something that the user has not seen.
    public var isUnread: Bool { unreadCount > 0 }
    /// Whether it shows writes that the server has not acknowledged: the last message is being sent.
    public var hasPendingWrites: Bool { document.metadata.hasPendingWrites }
    /// What the conversation says of its last message; nil before the first one.
    public var lastMessage: [String: Any]? { document.get(lastMessageField) as? [String: Any] }

    init(_ entry: ConversationBoard<QueryDocumentSnapshot>.Entry, _ lastMessage: String) {
        document = entry.row.content
        lastMessageAt = entry.row.lastMessageAt
        unreadCount = entry.unread
        isUnreadCountExact = entry.isExact
        isLastMessageOwn = entry.row.isOwn
        lastMessageField = lastMessage
    }
}

/// A chat list at one moment.
public struct ConversationListState: Hashable, Sendable {
    /// The one with the latest message first.
    public internal(set) var items: [ConversationItem] = []
    /// Of all items together: the badge of the app.
    public internal(set) var unreadTotal = 0
    /// Whether there are older conversations, for ``ConversationList/loadMore(_:)``.
    public internal(set) var hasMore = false
    /// Where the list stands with the server.
    public internal(set) var phase = ListPhase.loading
    /// Why other devices' marks do not come; nil where they do, or are not shared.
    public internal(set) var sharedMarksError: FirestoreError?

    /// How many conversations have something unread.
    public var unreadConversations: Int { items.count { $0.isUnread } }
}
