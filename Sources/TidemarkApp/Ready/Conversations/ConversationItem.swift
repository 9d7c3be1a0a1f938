public import Tidemark

/// A row of a chat list.
public struct ConversationItem: Hashable, Sendable, Identifiable {
    /// The conversation's document.
    public let document: QueryDocumentSnapshot
    /// The time of the last message; nil before the first message.
    public let lastMessageAt: Timestamp?
    /// The number for the badge. At least 1 if the last message was not seen.
    public let unreadCount: Int
    /// False if only the existence of unread messages is known: ``unreadCount`` is then 1.
    public let isUnreadCountExact: Bool
    /// True if the user has written the last message.
    public let isLastMessageOwn: Bool

    let lastMessageField: String

    /// The conversation's document id.
    public var id: String { document.documentID }
    /// True if the conversation has unread messages.
    public var isUnread: Bool { unreadCount > 0 }
    /// True if the document has writes that the server has not acknowledged: the last message is
    /// being sent.
    public var hasPendingWrites: Bool { document.metadata.hasPendingWrites }
    /// The last message in the conversation's document; nil before the first message.
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

/// The state of a chat list at a moment.
public struct ConversationListState: Hashable, Sendable {
    /// The items, with the latest message first.
    public internal(set) var items: [ConversationItem] = []
    /// The number of unread messages of all items: the badge of the app.
    public internal(set) var unreadTotal = 0
    /// True if ``ConversationList/loadMore(_:)`` can show older conversations.
    public internal(set) var hasMore = false
    /// The relation between the list and the server's.
    public internal(set) var phase = ListPhase.loading
    /// The reason why the marks of other devices do not arrive; nil if they arrive, or are not
    /// shared.
    public internal(set) var sharedMarksError: FirestoreError?

    /// The number of conversations with unread messages.
    public var unreadConversations: Int { items.count { $0.isUnread } }
}
