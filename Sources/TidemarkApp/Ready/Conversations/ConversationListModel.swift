public import Observation
public import Tidemark

/// A ``ConversationList`` whose conversations are values of a Swift type, for a view to bind to.
///
/// A document is decoded when it comes and when it changes. One that is no `Conversation` is left out of
/// the list and named in ``undecodable``.
@MainActor @Observable
public final class ConversationListModel<Conversation: Decodable & Sendable> {
    /// One conversation, as a value and with its badge.
    public struct Row: Identifiable, Sendable {
        /// The conversation, decoded.
        public let value: Conversation
        /// What else the list knows of it.
        public let item: ConversationItem
        /// The conversation's document id.
        public var id: String { item.id }
        /// What the badge shows.
        public var unreadCount: Int { item.unreadCount }
        /// Whether there is something that the user has not seen.
        public var isUnread: Bool { item.isUnread }
    }

    /// The one with the latest message first.
    public private(set) var rows: [Row] = []
    /// Why documents could not be decoded, by document id.
    public private(set) var undecodable: [String: String] = [:]
    /// Of all rows together: the badge of the app.
    public private(set) var unreadTotal = 0
    /// Whether there are older conversations, for ``loadMore()``.
    public private(set) var hasMore = false
    /// Skeletons while it is `loading`, a sentence when it is `empty`.
    public private(set) var phase = ListPhase.loading

    private struct Decoded {
        let document: QueryDocumentSnapshot
        let value: Result<Conversation, any Error>
    }

    @ObservationIgnored private let list: ConversationList
    @ObservationIgnored private let decoder: Firestore.Decoder
    @ObservationIgnored private var decoded: [ByteString: Decoded] = [:]
    @ObservationIgnored private var watching: Task<Void, Never>?

    /// Shows what the device holds, and keeps it right while the model is there.
    ///
    /// - Parameters:
    ///   - list: The list to show.
    ///   - type: What a conversation's document is decoded as.
    ///   - decoder: How it is decoded.
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

    /// Brings it up to date now; what fails is the phase.
    public func refresh() async { try? await list.refresh() }

    /// Shows older conversations.
    public func loadMore() async { try? await list.loadMore() }

    /// As ``ConversationList/markSeen(_:unread:)``: the badge goes at once.
    ///
    /// - Parameter id: The conversation's document id.
    /// - Throws: What the disk answered.
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
