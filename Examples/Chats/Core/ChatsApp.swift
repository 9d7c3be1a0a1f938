import Foundation
public import Tidemark
public import TidemarkApp

/// The data of the app, for whoever is signed in: what its screens are made of.
@MainActor
public struct ChatsApp {
    public let firestore: Firestore
    public let me: String
    /// By which messages are dated.
    public var now: @Sendable () -> Timestamp = { Timestamp(date: Date()) }
    /// Whether a chat that is cleared here is cleared on the person's other devices too. It costs a read at
    /// each open of a chat; a person of one device needs none.
    public var sharesClears = true
    /// How many messages of a chat a device holds: the newest, and beyond them those that somebody went back to.
    public nonisolated static let heldMessages = 100
    /// Measures the pause in typing before a search asks.
    public var clock: any Clock<Duration> = ContinuousClock()

    public nonisolated init(_ firestore: Firestore, me: String) {
        self.firestore = firestore
        self.me = me
    }

    /// Files, accounts, Firestore and the feed of the first screen: `try TidemarkStack(ChatsApp.settings(…))`.
    public nonisolated static func settings(
        folder: String, projectID: String, accounts: AccountsEndpoint
    ) -> StackSettings {
        StackSettings(folder: folder, projectID: projectID, accounts: accounts) { firestore, user in
            try user.map { [try Feed(ChatsApp(firestore, me: $0.text).chatList)] } ?? []
        }
    }

    nonisolated var user: DocumentReference { firestore.collection("users").document(me) }

    /// The chats that the person takes part in, the one with the latest message first.
    nonisolated var chatList: FeedDefinition {
        .chatList(of: me, in: firestore.collection("chats"))
    }

    /// The messages of a chat, above the clear mark.
    nonisolated func messages(of chat: String) -> FeedDefinition {
        var messages = FeedDefinition.conversation(firestore.collection("chats").document(chat))
        messages.limit = Self.heldMessages
        guard sharesClears else { return messages }
        messages.sharedMark = FeedDefinition.SharedMark(
            user.collection("state").document("marks"), field: "chat_" + chat)
        return messages
    }

    public func chats() throws(FirestoreError) -> ChatListModel { try ChatListModel(self) }

    /// What the next open of the list asks for chats that changed, and why. Asks no server. What was seen is
    /// one read beside it.
    public func nextOpen() async throws(FirestoreError) -> ReadPlan {
        let feed = try Feed(chatList)
        try await feed.open()
        return await feed.plan
    }

    public func chat(_ id: String) throws(FirestoreError) -> ChatModel {
        try ChatModel(id, in: self)
    }

    public func notices() throws(FirestoreError) -> FeedModel<Notice> {
        FeedModel(try TypedFeed(of: Notice.self, .notifications(of: user)))
    }

    public func blocked() throws(FirestoreError) -> BlockedModel { try BlockedModel(self) }

    /// Finds people as their names are typed.
    public func search() throws(FirestoreError) -> UserSearchModel {
        UserSearchModel(try UserSearch(firestore.collection("users")), clock: clock)
    }
}
