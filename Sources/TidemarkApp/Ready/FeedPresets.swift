public import Tidemark

// Feeds of the kinds that most apps have. Names of fields and collections are parameters; what is said of
// nothing is as below. Every document carries its own time, the server's time of its last change
// (`updatedAt`), and a mark when it is deleted (`deletedAt`), unless another way is given.

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

    /// The chats that a user takes part in, the one with the latest message first. A user who leaves is to
    /// be kept in the list of members until the chat has been marked, or the others' devices never hear
    /// of it: a document that leaves the filter is not a change that it can show.
    public static func chatList(
        of user: String, in chats: CollectionReference, members: String = "members",
        lastMessageAt: String = "lastMessageAt",
        way: Way = .changeTime("updatedAt", deletedField: "deletedAt")
    ) -> FeedDefinition {
        FeedDefinition(
            query: chats.whereField(members, arrayContains: user), itemTime: lastMessageAt,
            way: way)
    }

    /// Posts of everybody, or of whom the query names: ``Feed/clear(through:)`` resets the feed.
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

    /// The games that a user has played. Where a game is written once, when it has ended, and never
    /// changed, ``Way/itemTime`` is the cheapest way.
    public static func gameHistory(
        of user: String, in games: CollectionReference, players: String = "players",
        endedAt: String = "endedAt",
        way: Way = .changeTime("updatedAt", deletedField: "deletedAt")
    ) -> FeedDefinition {
        FeedDefinition(
            query: games.whereField(players, arrayContains: user), itemTime: endedAt, way: way)
    }

    /// A user's purchases. They are written by a server that checks them, and changed by a refund.
    public static func purchases(
        of user: DocumentReference, collection: String = "purchases",
        purchasedAt: String = "purchasedAt",
        way: Way = .changeTime("updatedAt", deletedField: "deletedAt")
    ) -> FeedDefinition {
        FeedDefinition(query: user.collection(collection), itemTime: purchasedAt, way: way)
    }

    /// What was shared in a conversation, beside its messages: pictures, films, files. It holds the newest
    /// 200; older ones come with ``Feed/loadMore(_:)``.
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
