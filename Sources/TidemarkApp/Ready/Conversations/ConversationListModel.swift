public import Observation
public import Tidemark

/// A ``ConversationList`` whose conversations are values of a Swift type, and that a view can bind
/// to.
///
/// A document is decoded when it arrives and when it changes. A document that cannot be decoded as
/// `Conversation` is left out of the list and named in ``undecodable``.
@MainActor @Observable
public final class ConversationListModel<Conversation: Decodable & Sendable> {
    /// A conversation, as a value and with its badge.
    public struct Row: Identifiable, Sendable {
        /// The conversation, decoded.
        public let value: Conversation
        /// The list's data for the conversation.
        public let item: ConversationItem
        /// The conversation's document id.
        public var id: String { item.id }
        /// The number for the badge.
        public var unreadCount: Int { item.unreadCount }
        /// True if the conversation has unread messages.
        public var isUnread: Bool { item.isUnread }
    }

    /// The rows, with the latest message first.
    public private(set) var rows: [Row] = []
    /// The decoding errors of documents, by document id.
    public private(set) var undecodable: [String: String] = [:]
    /// The number of unread messages of all rows: the badge of the app.
    public private(set) var unreadTotal = 0
    /// True if ``loadMore()`` can show older conversations.
    public private(set) var hasMore = false
    /// The phase. A view draws skeletons while it is `loading`, and a sentence if it is `empty`.
    public private(set) var phase = ListPhase.loading

    private struct Decoded {
        let document: QueryDocumentSnapshot
        let value: Result<Conversation, any Error>
    }

    @ObservationIgnored private let list: ConversationList
    @ObservationIgnored private let decoder: Firestore.Decoder
    @ObservationIgnored private var decoded: [ByteString: Decoded] = [:]
    @ObservationIgnored private var watching: Task<Void, Never>?

    /// Shows the device's list, and updates the list until the model is released.
    ///
    /// - Parameters:
    ///   - list: The list to show.
    ///   - type: The type of a decoded conversation.
    ///   - decoder: The decoder of the documents.
    public init(
        _ list: ConversationList, as type: Conversation.Type = Conversation.self,
        decoder: Firestore.Decoder = Firestore.Decoder()
    ) {
        self.list = list
        self.decoder = decoder
        let states = list.states
        watching = Task { [weak self] in
            await list.start()
            for await state in states { self?.show(state) }
        }
    }

    deinit {
        watching?.cancel()
        let list = list
        Task { await list.stop() }
    }

    /// Updates the list now. The phase shows an error.
    public func refresh() async { try? await list.refresh() }

    /// Shows older conversations.
    public func loadMore() async { try? await list.loadMore() }

    /// See ``ConversationList/markSeen(_:unread:)``: the badge disappears immediately.
    ///
    /// - Parameter id: The conversation's document id.
    /// - Throws: The error of the disk.
    public func markSeen(_ id: String) async throws(FirestoreError) {
        try await list.markSeen(id)
    }

    private func show(_ state: ConversationListState) {
        var next: [ByteString: Decoded] = [:]
        var failed: [String: String] = [:]
        var shown: [Row] = []
        shown.reserveCapacity(state.items.count)
        for item in state.items {
            let id = ByteString(item.id)
            let known = decoded[id].flatMap { $0.document == item.document ? $0 : nil }
            let row = known ?? decode(item.document)
            next[id] = row
            switch row.value {
            case .success(let value): shown.append(Row(value: value, item: item))
            case .failure(let error): failed[item.id] = "\(error)"
            }
        }
        decoded = next
        rows = shown
        undecodable = failed
        unreadTotal = state.unreadTotal
        hasMore = state.hasMore
        phase = state.phase
    }

    private func decode(_ document: QueryDocumentSnapshot) -> Decoded {
        Decoded(
            document: document,
            value: Result { try document.data(as: Conversation.self, decoder: decoder) })
    }
}
