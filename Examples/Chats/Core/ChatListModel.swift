public import Observation
import Tidemark
public import TidemarkApp

/// The chat list: one feed for all chats, and one document with the number of messages seen in
/// each.
@MainActor @Observable
public final class ChatListModel {
    public struct Row: Identifiable, Hashable, Sendable {
        public let chat: Chat
        public let unread: Int
        /// True if a change of the chat waits on this device to be sent.
        public let isWaiting: Bool
        public var id: String { chat.id ?? "" }
    }

    private let feed: FeedModel<Chat>
    private let seen: SingleDocumentModel<Seen>
    @ObservationIgnored private let document: DocumentReference

    /// Shows the device's data, and updates it while the model exists.
    init(_ app: ChatsApp) throws(FirestoreError) {
        document = app.user.collection("state").document("seen")
        feed = FeedModel(try TypedFeed(of: Chat.self, app.chatList))
        seen = SingleDocumentModel(document)
    }

    /// The chats, the one with the latest message first.
    public var rows: [Row] {
        let counts = seen.value?.chats ?? [:]
        return feed.items.map { item in
            let count = counts[item.value.id ?? ""] ?? 0
            return Row(
                chat: item.value, unread: max(0, item.value.messageCount - count),
                isWaiting: item.hasPendingWrites)
        }
    }

    /// The number of unread messages in all chats, for the app's badge.
    public var unreadTotal: Int { rows.reduce(0) { $0 + $1.unread } }
    public var phase: FeedPhase { feed.phase }
    public var hasMore: Bool { feed.hasMore }

    public func loadMore() async { try? await feed.loadMore() }

    /// Tries again after a failed phase.
    public func refresh() async { await feed.refresh() }

    /// Marks all messages of a chat as seen. Its badge disappears immediately, also offline, and
    /// later on the user's other devices. Costs one write.
    public func markSeen(_ row: Row) async {
        guard row.unread > 0 else { return }
        _ = try? await document.enqueueSetData(
            ["chats": [row.id: row.chat.messageCount]], merge: true)
    }
}
