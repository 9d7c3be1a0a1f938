public import Tidemark
public import TidemarkApp

/// Lists that are opened rarely. Opening one costs a read per new item, and at least one read.
extension ChatsApp {
    /// The number of pictures, films and files of a chat that a device holds: the newest ones.
    /// Older ones that the user loads are held in addition.
    public nonisolated static let heldMedia = 200

    /// Returns the user's calls.
    public func calls() throws(FirestoreError) -> FeedModel<Entry> { try list(.callLog(of: user)) }

    /// Returns the user's purchases.
    public func purchases() throws(FirestoreError) -> FeedModel<Entry> {
        try list(.purchases(of: user))
    }

    /// Returns the media shared in a chat.
    public func media(of chat: String) throws(FirestoreError) -> FeedModel<Entry> {
        let chat = firestore.collection("chats").document(chat)
        return try list(.media(of: chat, limit: Self.heldMedia))
    }

    /// Returns the announcements to all users.
    public func activity() throws(FirestoreError) -> FeedModel<Entry> {
        try list(.activity(firestore.collection("activity/all/posts")))
    }

    /// Returns the users of the last 24 hours, and which of them are online.
    public func online() throws(FirestoreError) -> OnlineUsersModel {
        OnlineUsersModel(try OnlineUsers(firestore.collection("presence")), clock: clock)
    }

    private func list(_ definition: FeedDefinition) throws(FirestoreError) -> FeedModel<Entry> {
        FeedModel(try TypedFeed(of: Entry.self, definition))
    }
}
