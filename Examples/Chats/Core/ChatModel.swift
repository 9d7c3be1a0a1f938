public import Observation
import Tidemark
public import TidemarkApp

/// One chat: the newest messages from disk, then what changed, then live.
@MainActor @Observable
public final class ChatModel {
    public let messages: FeedModel<ChatMessage>
    /// Why the last action failed, in a sentence; nil after one that succeeded.
    public private(set) var problem: String?

    @ObservationIgnored private let app: ChatsApp
    @ObservationIgnored private let chat: DocumentReference

    init(_ id: String, in app: ChatsApp) throws(FirestoreError) {
        self.app = app
        chat = app.firestore.collection("chats").document(id)
        messages = FeedModel(try TypedFeed(of: ChatMessage.self, app.messages(of: id)))
    }

    /// Returns when it is on disk, also without a network. The chat's last message and its count change in
    /// the same batch.
    public func send(_ text: String) async {
        let message = ChatMessage(author: app.me, text: text, sentAt: app.now())
        await act { [chat] in
            let batch = chat.firestore.batch()
            try batch.setData(
                from: message, forDocument: chat.collection("messages").document())
            batch.updateData(
                [
                    "lastText": text, "messageCount": FieldValue.increment(Int64(1)),
                    "lastMessageAt": FieldValue.serverTimestamp(),
                    "updatedAt": FieldValue.serverTimestamp(),
                ], forDocument: chat)
            _ = try await batch.enqueue()
        }
    }

    /// Hides all that is shown, for good, offline too; the person's other devices hear of it.
    public func clear() async { await act { [messages] in try await messages.clear() } }

    public func loadMore() async { await act { [messages] in try await messages.loadMore() } }

    private func act(_ body: () async throws -> Void) async {
        do {
            try await body()
            problem = nil
        } catch {
            problem = (error as? FirestoreError)?.message ?? "Something went wrong in the app."
        }
    }
}
