public import Tidemark

extension Pager {
    /// The messages of a conversation.
    ///
    /// - Parameters:
    ///   - conversation: The document above the collection of messages.
    ///   - collection: The collection's id.
    ///   - sentAt: The time that orders the messages.
    ///   - pageSize: Rows in a page.
    ///   - pages: The conditions for older pages from disk.
    ///   - marks: The user's marks of the conversation.
    public static func messages(
        of conversation: DocumentReference, collection: String = "messages",
        sentAt: String = "sentAt", pageSize: Int = 50, pagesFromDisk pages: PagesFromDisk = .never,
        marks: Marks = Marks()
    ) throws(FirestoreError) -> Pager {
        try Pager(
            conversation.collection(collection), orderedBy: sentAt, pageSize: pageSize,
            pagesFromDisk: pages, marks: marks)
    }

    /// The conversations of a user, with the latest message first. Needs an index of both fields.
    ///
    /// - Parameters:
    ///   - user: The user's id.
    ///   - conversations: The collection of conversations.
    ///   - members: The field with the list of users' ids.
    ///   - lastMessageAt: The time that orders the conversations; a new time moves a conversation
    ///     to the top.
    ///   - pageSize: Rows in a page.
    ///   - pages: The conditions for older pages from disk.
    public static func conversations(
        of user: String, in conversations: CollectionReference, members: String = "members",
        lastMessageAt: String = "lastMessageAt", pageSize: Int = 50,
        pagesFromDisk pages: PagesFromDisk = .never
    ) throws(FirestoreError) -> Pager {
        try Pager(
            conversations.whereField(members, arrayContains: user), orderedBy: lastMessageAt,
            pageSize: pageSize, pagesFromDisk: pages)
    }
}
