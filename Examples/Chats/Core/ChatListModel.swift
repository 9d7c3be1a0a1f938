public import Observation
import Tidemark
public import TidemarkApp

/// The chat list: one feed for all chats, and one document for what was seen of them.
@MainActor @Observable
public final class ChatListModel {
    public struct Row: Identifiable, Hashable, Sendable {
        public let chat: Chat
        public let unread: Int
        /// Whether its last message waits on this device.
        public let isWaiting: Bool
        public var id: String { chat.id ?? "" }
    }

    private let feed: FeedModel<Chat>
    private let seen: SingleDocumentModel<Seen>
    @ObservationIgnored private let document: DocumentReference

    /// Shows what the device holds, and keeps it right while the model is there.
    init(_ app: ChatsApp) throws(FirestoreError) {
        document = app.user.collection("state").document("seen")
        feed = FeedModel(try TypedFeed(of: Chat.self, app.chatList))
        seen = SingleDocumentModel(document)
    }

    /// The one with the latest message first.
    public var rows: [Row] {
        let counts = seen.value?.chats ?? [:]
        return feed.items.map { item in
            let count = counts[item.value.id ?? ""] ?? 0
            return Row(
                chat: item.value, unread: max(0, item.value.messageCount - count),
                isWaiting: item.hasPendingWrites)
        }
    }

    /// The badge of the app.
    public var unreadTotal: Int { rows.reduce(0) { $0 + $1.unread } }
    public var phase: FeedPhase { feed.phase }
    public var hasMore: Bool { feed.hasMore }

    public func loadMore() async { try? await feed.loadMore() }

    /// The way out of a failed phase.
    public func refresh() async { await feed.refresh() }

    /// All of a chat's messages were seen: its badge goes at once, also offline, and on the person's other
    /// devices. One write.
    public func markSeen(_ row: Row) async {
        guard row.unread > 0 else { return }
        _ = try? await document.enqueueSetData(
            ["chats": [row.id: row.chat.messageCount]], merge: true)
    }
}
