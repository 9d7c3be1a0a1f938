public import Tidemark

// Feeds of the kinds that most apps have. Names of fields and collections are parameters, with the
// defaults below. Every document contains its own time, the server's time of its last change
// (`updatedAt`), and a mark if it is deleted (`deletedAt`), unless another way is given.

extension FeedDefinition {
    /// The messages of a conversation: ``Feed/clear(through:)`` clears the chat,
    /// ``Feed/markConsumed(through:)`` marks it as read.
    public static func conversation(
        _ conversation: DocumentReference, collection: String = "messages",
        sentAt: String = "sentAt",
        way: Way = .changeTime("updatedAt", deletedField: "deletedAt")
    ) -> FeedDefinition {
        FeedDefinition(
            query: conversation.collection(collection), itemTime: sentAt, way: way)
    }

    /// A user's notifications: ``Feed/clear(through:)`` clears all.
    public static func notifications(
        of user: DocumentReference, collection: String = "notifications",
        createdAt: String = "createdAt",
        way: Way = .changeTime("updatedAt", deletedField: "deletedAt")
    ) -> FeedDefinition {
        FeedDefinition(query: user.collection(collection), itemTime: createdAt, way: way)
    }

    /// The chats of a user, with the latest message first. Keep a leaving user in the list of
    /// members until the chat has been marked; otherwise the devices of the others never receive
    /// the deletion, because a document that leaves the filter is no visible change.
    public static func chatList(
        of user: String, in chats: CollectionReference, members: String = "members",
        lastMessageAt: String = "lastMessageAt",
        way: Way = .changeTime("updatedAt", deletedField: "deletedAt")
    ) -> FeedDefinition {
        FeedDefinition(
            query: chats.whereField(members, arrayContains: user), itemTime: lastMessageAt,
            way: way)
    }

    /// The chats of a user in the user's own collection, one document for each other person, as in
    /// `users/ann/chats/bob`. Each member has a copy, and the batch of a message writes both. Only
    /// the user reads the copy, so no filter by members and no composite index is needed.
    public static func ownChats(
        of user: DocumentReference, collection: String = "chats",
        lastMessageAt: String = "lastMessageAt",
        way: Way = .changeTime("updatedAt", deletedField: "deletedAt")
    ) -> FeedDefinition {
        FeedDefinition(query: user.collection(collection), itemTime: lastMessageAt, way: way)
    }

    /// Posts of all users, or of the users in the query: ``Feed/clear(through:)`` resets the feed.
    public static func activity(
        _ posts: Query, postedAt: String = "createdAt",
        way: Way = .changeTime("updatedAt", deletedField: "deletedAt")
    ) -> FeedDefinition {
        FeedDefinition(query: posts, itemTime: postedAt, way: way)
    }

    /// A user's calls, the latest first: ``Feed/clear(through:)`` empties the log.
    public static func callLog(
        of user: DocumentReference, collection: String = "calls",
        startedAt: String = "startedAt",
        way: Way = .changeTime("updatedAt", deletedField: "deletedAt")
    ) -> FeedDefinition {
        FeedDefinition(query: user.collection(collection), itemTime: startedAt, way: way)
    }

    /// The games that a user has played. ``Way/itemTime`` is the cheapest way if a game is written
    /// once, at its end, and never changed.
    public static func gameHistory(
        of user: String, in games: CollectionReference, players: String = "players",
        endedAt: String = "endedAt",
        way: Way = .changeTime("updatedAt", deletedField: "deletedAt")
    ) -> FeedDefinition {
        FeedDefinition(
            query: games.whereField(players, arrayContains: user), itemTime: endedAt, way: way)
    }

    /// A user's purchases. A server checks and writes them, and a refund changes them.
    public static func purchases(
        of user: DocumentReference, collection: String = "purchases",
        purchasedAt: String = "purchasedAt",
        way: Way = .changeTime("updatedAt", deletedField: "deletedAt")
    ) -> FeedDefinition {
        FeedDefinition(query: user.collection(collection), itemTime: purchasedAt, way: way)
    }

    /// The media of a conversation, separate from its messages: pictures, films, files. The feed
    /// holds the newest 200; ``Feed/loadMore(_:)`` shows older media.
    public static func media(
        of conversation: DocumentReference, collection: String = "media",
        sharedAt: String = "sharedAt",
        way: Way = .changeTime("updatedAt", deletedField: "deletedAt"), limit: Int? = 200
    ) -> FeedDefinition {
        FeedDefinition(
            query: conversation.collection(collection), itemTime: sharedAt, way: way,
            limit: limit)
    }
}

extension FeedDefinition.SharedMark {
    /// The clear mark in the user's own copy of a chat, as in `Users/ann/Chats/bob`: a text of
    /// milliseconds, as older versions of the app wrote it. A clear also sets
    /// `conversation_deleted` to true and `last_message_timestamp` to the mark.
    ///
    /// - Parameters:
    ///   - chat: The user's own copy of the chat.
    ///   - field: The field of the mark.
    public static func ownChat(
        _ chat: DocumentReference, field: String = "fetch_message_after"
    ) -> FeedDefinition.SharedMark {
        FeedDefinition.SharedMark(
            chat, field: field, encoding: .string,
            onClear: [
                "conversation_deleted": .boolean(true), "last_message_timestamp": .mark,
            ])
    }
}
