public import Observation
import Tidemark
public import TidemarkApp

/// One chat: the newest messages from disk, then what changed, then live.
@MainActor @Observable
public final class ChatModel {
    public let messages: FeedModel<ChatMessage>
    /// Whether older ones are on their way.
    public private(set) var isLoadingEarlier = false
    /// Written here and not yet heard of by the feed, oldest first.
    public var outgoing: [ChatMessage] {
        let known = Set(messages.items.compactMap(\.value.id))
        return sent.filter { !known.contains($0.id ?? "") }
    }
    private var sent: [ChatMessage] = []
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
        let document = chat.collection("messages").document()
        var message = ChatMessage(author: app.me, text: text, sentAt: app.now())
        message.id = document.documentID
        sent = outgoing + [message]
        await act { [chat] in
            let batch = chat.firestore.batch()
            try batch.setData(from: message, forDocument: document)
            batch.updateData(
                [
                    "lastText": text, "messageCount": FieldValue.increment(Int64(1)),
                    "lastMessageAt": FieldValue.serverTimestamp(),
                    "updatedAt": FieldValue.serverTimestamp(),
                ], forDocument: chat)
            follow(try await batch.enqueue(), of: message)
        }
        if problem != nil { sent.removeAll { $0.id == message.id } }
    }

    /// What the server refuses is undone, and the person is told.
    private func follow(_ receipt: WriteReceipt?, of message: ChatMessage) {
        Task { [weak self] in
            do throws(FirestoreError) { try await receipt?.acknowledged() } catch {
                self?.sent.removeAll { $0.id == message.id }
                self?.problem = error.message
            }
        }
    }

    /// Hides all that is shown, for good, offline too; the person's other devices hear of it.
    public func clear() async { await act { [messages] in try await messages.clear() } }

    /// Fifty older ones, from the device or the server: each is read once. Never twice at once.
    public func loadEarlier() async {
        if isLoadingEarlier { return }
        isLoadingEarlier = true
        await act { [messages] in try await messages.loadMore() }
        isLoadingEarlier = false
    }

    private func act(_ body: () async throws -> Void) async {
        do {
            try await body()
            problem = nil
        } catch {
            problem = (error as? FirestoreError)?.message ?? "Something went wrong in the app."
        }
    }
}
