public import Tidemark

extension Pager {
    /// The messages of a conversation.
    ///
    /// - Parameters:
    ///   - conversation: The document above the collection of messages.
    ///   - collection: The collection's id.
    ///   - sentAt: The time that messages are ordered by.
    ///   - pageSize: Rows in a page.
    ///   - pages: When older pages come from disk.
    ///   - marks: Up to where the user has cleared the conversation.
    public static func messages(
        of conversation: DocumentReference, collection: String = "messages",
        sentAt: String = "sentAt", pageSize: Int = 50, pagesFromDisk pages: PagesFromDisk = .never,
        marks: Marks = Marks()
    ) throws(FirestoreError) -> Pager {
        try Pager(
            conversation.collection(collection), orderedBy: sentAt, pageSize: pageSize,
            pagesFromDisk: pages, marks: marks)
    }

    /// The conversations that a user takes part in, the one with the latest message first. Needs an
    /// index of both fields.
    ///
    /// - Parameters:
    ///   - user: The user's id.
    ///   - conversations: The collection of conversations.
    ///   - members: The field with the list of users' ids.
    ///   - lastMessageAt: The time that conversations are ordered by; they move to the top with it.
    ///   - pageSize: Rows in a page.
    ///   - pages: When older pages come from disk.
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
