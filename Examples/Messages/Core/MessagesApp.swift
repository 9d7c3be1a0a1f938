import Foundation
public import Tidemark
public import TidemarkApp

/// The data of the app, for whoever is signed in: what its screens are made of.
@MainActor
public struct MessagesApp {
    public let firestore: Firestore
    public let me: String
    /// By which messages are dated, in the order in which they are written.
    public var now: @Sendable () -> Timestamp = { Timestamp(date: Date()) }
    /// Measures how long a screen waits for the server.
    public var clock: any Clock<Duration> = ContinuousClock()

    public nonisolated init(_ firestore: Firestore, me: String) {
        self.firestore = firestore
        self.me = me
    }

    /// Files, accounts and Firestore in one folder: `try TidemarkStack(MessagesApp.settings(…))`.
    public nonisolated static func settings(
        folder: String, projectID: String, accounts: AccountsEndpoint
    ) -> StackSettings {
        StackSettings(folder: folder, projectID: projectID, accounts: accounts)
    }

    /// Of a stack, once somebody has signed in.
    public nonisolated init(_ stack: TidemarkStack, user: UserID) {
        self.init(stack.firestore, me: user.text)
    }

    /// The conversations of the person, in pages, of which the newest is live.
    public func conversations() throws(FirestoreError) -> PagedList<Conversation> {
        let pager = try Pager.conversations(of: me, in: firestore.collection("conversations"))
        return PagedList(pager, of: firestore, clock: clock)
    }

    public func conversation(_ id: String) throws(FirestoreError) -> ConversationModel {
        try ConversationModel(
            firestore.collection("conversations").document(id), me: me, now: now,
            clock: clock)
    }

    /// Begins a conversation. Returns its id when it is on disk, also without a network.
    public func begin(_ title: String, with others: [String]) async throws -> String {
        let document = firestore.collection("conversations").document()
        _ = try await document.enqueueSetData(
            from: Conversation(members: [me] + others, title: title))
        return document.documentID
    }
}
