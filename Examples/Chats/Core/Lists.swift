public import Tidemark
public import TidemarkApp

/// The lists that are opened seldom. Each costs what is new in it, and one read for asking.
extension ChatsApp {
    /// How many pictures, films and files of a chat a device holds: the newest, and beyond them those that
    /// somebody went back to.
    public nonisolated static let heldMedia = 200

    /// The person's calls.
    public func calls() throws(FirestoreError) -> FeedModel<Entry> { try list(.callLog(of: user)) }

    /// What the person has bought.
    public func purchases() throws(FirestoreError) -> FeedModel<Entry> {
        try list(.purchases(of: user))
    }

    /// What was shared in a chat, beside its messages.
    public func media(of chat: String) throws(FirestoreError) -> FeedModel<Entry> {
        let chat = firestore.collection("chats").document(chat)
        return try list(.media(of: chat, limit: Self.heldMedia))
    }

    /// What everybody is told.
    public func activity() throws(FirestoreError) -> FeedModel<Entry> {
        try list(.activity(firestore.collection("activity/all/posts")))
    }

    /// Those who were there in the last 24 hours, and who of them is online.
    public func online() throws(FirestoreError) -> OnlineUsersModel {
        OnlineUsersModel(try OnlineUsers(firestore.collection("presence")), clock: clock)
    }

    private func list(_ definition: FeedDefinition) throws(FirestoreError) -> FeedModel<Entry> {
        FeedModel(try TypedFeed(of: Entry.self, definition))
    }
}
