import Foundation
public import Tidemark
public import TidemarkApp

/// The data of the app for the signed-in user. Makes the models of its screens.
@MainActor
public struct MessagesApp {
    public let firestore: Firestore
    public let me: String
    /// Returns the send time of a new message. Messages are shown in the order of these times.
    public var now: @Sendable () -> Timestamp = { Timestamp(date: Date()) }
    /// Measures how long a screen waits for the server.
    public var clock: any Clock<Duration> = ContinuousClock()

    public nonisolated init(_ firestore: Firestore, me: String) {
        self.firestore = firestore
        self.me = me
    }

    /// Returns the settings of files, accounts and Firestore in one folder. Use them as in
    /// `try TidemarkStack(MessagesApp.settings(…))`.
    public nonisolated static func settings(
        folder: String, projectID: String, accounts: AccountsEndpoint
    ) -> StackSettings {
        StackSettings(folder: folder, projectID: projectID, accounts: accounts)
    }

    /// Returns the settings for the project of `GoogleService-Info.plist`, with all services at
    /// Google.
    public nonisolated static func settings(
        folder: String, _ info: GoogleServiceInfo
    ) -> StackSettings {
        StackSettings(folder: folder, info)
    }

    /// Makes the app from a stack, after the user has signed in.
    public nonisolated init(_ stack: TidemarkStack, user: UserID) {
        self.init(stack.firestore, me: user.text)
    }

    /// Returns the user's conversations in pages. The newest page is live.
    public func conversations() throws(FirestoreError) -> PagedList<Conversation> {
        let pager = try Pager.conversations(of: me, in: firestore.collection("conversations"))
        return PagedList(pager, of: firestore, clock: clock)
    }

    public func conversation(_ id: String) throws(FirestoreError) -> ConversationModel {
        try ConversationModel(
            firestore.collection("conversations").document(id), me: me, now: now,
            clock: clock)
    }

    /// Creates a conversation and returns its id when it is on disk, also without a network.
    public func begin(_ title: String, with others: [String]) async throws -> String {
        let document = firestore.collection("conversations").document()
        _ = try await document.enqueueSetData(
            from: Conversation(members: [me] + others, title: title))
        return document.documentID
    }
}
