public import ExampleKit
import Foundation
public import Tidemark
public import TidemarkApp

/// The data of the app for the signed-in user. Makes the models of its screens.
@MainActor
public struct ChatsApp {
    public let firestore: Firestore
    public let me: String
    /// Sends and loads the photos of messages; nil in an app without Storage.
    public let photos: AppPhotos?
    /// Returns the send time of a new message.
    public var now: @Sendable () -> Timestamp = { Timestamp(date: Date()) }
    /// True if clearing a chat also clears it on the user's other devices. This costs a read each
    /// time a chat opens. A user with one device does not need it.
    public var sharesClears = true
    /// The number of messages of a chat that a device holds: the newest ones. Older messages that
    /// the user loads are held in addition.
    public nonisolated static let heldMessages = 100
    /// Measures the pause in typing after which a search asks the server.
    public var clock: any Clock<Duration> = ContinuousClock()

    public nonisolated init(_ firestore: Firestore, me: String, photos: AppPhotos? = nil) {
        self.firestore = firestore
        self.me = me
        self.photos = photos
    }

    /// Returns the settings of files, accounts, Firestore and the first screen's feed. Use them as
    /// in `try TidemarkStack(ChatsApp.settings(…))`.
    public nonisolated static func settings(
        folder: String, projectID: String, accounts: AccountsEndpoint
    ) -> StackSettings {
        StackSettings(folder: folder, projectID: projectID, accounts: accounts, feeds: feeds)
    }

    /// Returns the settings for the project of `GoogleService-Info.plist`, with all services at
    /// Google: `ChatsApp.settings(folder: folder, try GoogleServiceInfo(of: .main))`.
    public nonisolated static func settings(
        folder: String, _ info: GoogleServiceInfo
    ) -> StackSettings {
        StackSettings(folder: folder, info, feeds: feeds)
    }

    /// Returns the settings of an app that Xcode runs: `ChatsApp.settings(PhoneServices())`.
    public nonisolated static func settings(_ services: PhoneServices) -> StackSettings {
        services.stackSettings(feeds: feeds)
    }

    /// Returns the feed of the first screen.
    private nonisolated static func feeds(_ firestore: Firestore, _ user: UserID?) throws -> [Feed]
    {
        try user.map { [try Feed(ChatsApp(firestore, me: $0.text).chatList)] } ?? []
    }

    nonisolated var user: DocumentReference { firestore.collection("users").document(me) }

    /// The chats of which the user is a member, the one with the latest message first.
    public nonisolated var chatList: FeedDefinition {
        .chatList(of: me, in: firestore.collection("chats"))
    }

    /// Returns the feed of a chat's messages above the clear mark.
    public nonisolated func messages(of chat: String) -> FeedDefinition {
        var messages = FeedDefinition.conversation(firestore.collection("chats").document(chat))
        messages.limit = Self.heldMessages
        guard sharesClears else { return messages }
        messages.sharedMark = FeedDefinition.SharedMark(
            user.collection("state").document("marks"), field: "chat_" + chat)
        return messages
    }

    public func chats() throws(FirestoreError) -> ChatListModel { try ChatListModel(self) }

    /// Returns the next request of the chat list and its reason, without a request to the server.
    /// The document of seen counts costs one more read.
    public func nextOpen() async throws(FirestoreError) -> ReadPlan {
        let feed = try Feed(chatList)
        try await feed.open()
        return await feed.plan
    }

    public func chat(_ id: String) throws(FirestoreError) -> ChatModel {
        try ChatModel(id, in: self)
    }

    /// Returns the people who wrote in a chat since a time.
    public func writers(in chat: String, since time: Timestamp) -> WritersModel {
        WritersModel(firestore.collection("chats/\(chat)/messages"), since: time)
    }

    public func notices() throws(FirestoreError) -> FeedModel<Notice> {
        FeedModel(try TypedFeed(of: Notice.self, .notifications(of: user)))
    }

    /// Returns a live list of the people whom the user has blocked.
    public func blocked() throws(FirestoreError) -> BlockedUsersModel {
        BlockedUsersModel(try blockedUsers())
    }

    /// Returns the same list for a caller that asks for its changes itself.
    public func blockedUsers() throws(FirestoreError) -> BlockedUsers {
        try BlockedUsers(user.collection("blocked"), users: firestore.collection("users"))
    }

    /// Returns a model that finds words in the messages of this device.
    public func messageSearch() -> MessageSearchModel { MessageSearchModel(firestore) }

    /// Returns a model that finds people while the user types a name.
    public func search() throws(FirestoreError) -> UserSearchModel {
        UserSearchModel(try UserSearch(firestore.collection("users")), clock: clock)
    }
}
