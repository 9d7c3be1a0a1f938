// tidemark:ignore-file decode-on-main the app as it was: lint finds what it did
// tidemark:ignore-file listener-error-ignored the app as it was: lint finds what it did
// tidemark:ignore-file listener-never-removed the app as it was: lint finds what it did
// tidemark:ignore-file unbounded-listener the app as it was: lint finds what it did
// tidemark:ignore-file write-error-ignored the app as it was: lint finds what it did

public import ExampleKit
import Foundation
import Synchronization
import Tidemark
import TidemarkApp

/// The old messages app, with the calls of FirebaseFirestore. It loads pages carefully, but also
/// has a listener without a limit. A send waits for the server, and shows only a spinner.
public final class MessagesBefore: PhoneApp {
    private struct State {
        var conversations: [Conversation]?
        var open: Opened?
    }

    private struct Opened {
        let id: String
        let title: String
        var messages: [String: Message] = [:]
        var last: QueryDocumentSnapshot?
        var hasMore = true
        var isLoadingMore = false
        var hasAny = false
        /// The number of texts that are being sent.
        var sending = 0
        var listener: (any ListenerRegistration)?

        /// The messages, oldest first.
        var shown: [Message] {
            messages.values.filter { $0.deletedAt == nil }.sorted {
                ($0.timestamp, $0.id ?? "") < ($1.timestamp, $1.id ?? "")
            }
        }
    }

    private let phone: PhoneEnvironment
    private let firestore: Firestore
    private let publisher = ScreenPublisher(Screen("Messages"))
    private let state = Mutex(State())
    /// Draws relative times again each minute.
    private let minutes = Mutex<Task<Void, Never>?>(nil)

    public var screens: AsyncStream<Screen> { publisher.screens }
    private var me: String { phone.settings.user.id }

    public init(_ phone: PhoneEnvironment) throws {
        self.phone = phone
        firestore = try phone.firestore(phone.settings)
        listenToConversations()
        draw()
        drawEachMinute()
    }

    private func drawEachMinute() {
        let drawing = Task { [weak self] in
            while !Task.isCancelled {
                try? await Task.sleep(for: .seconds(60))
                self?.draw()
            }
        }
        minutes.withLock { $0 = drawing }
    }

    /// Listens to all conversations and never stops.
    private func listenToConversations() {
        let query = firestore.collection("conversations")
            .whereField("members", arrayContains: me)
            .order(by: "lastMessageAt", descending: true)
        query.addSnapshotListener { [weak self] snapshot, _ in
            guard let self, let snapshot else { return }
            let all = snapshot.documents.compactMap { try? $0.data(as: Conversation.self) }
            self.change { $0.conversations = all }
        }
    }

    private func messages(of id: String) -> Query {
        firestore.collection("messages").whereField("conversationId", isEqualTo: id)
            .order(by: "timestamp", descending: true)
    }

    private func open(_ conversation: Conversation) {
        guard let id = conversation.id else { return }
        change { $0.open = Opened(id: id, title: conversation.title) }
        let listener = messages(of: id).addSnapshotListener { [weak self] snapshot, _ in
            guard let self, let snapshot else { return }
            self.take(snapshot.documents, of: id, areAll: true)
        }
        change { $0.open?.listener = listener }
        Task { await loadMore() }
    }

    private func take(
        _ documents: [QueryDocumentSnapshot], of id: String, areAll: Bool = false
    ) {
        let found = documents.compactMap { try? $0.data(as: Message.self) }
        change { state in
            guard state.open?.id == id else { return }
            state.open?.hasAny = true
            if areAll { state.open?.messages = [:] }
            for message in found { state.open?.messages[message.id ?? ""] = message }
        }
    }

    private func loadMore() async {
        guard let open = begin() else { return }
        let page = messages(of: open.id).limit(to: 50)
        let next = open.last.map { page.start(afterDocument: $0) } ?? page
        let found = try? await next.getDocuments()
        if let found { take(found.documents, of: open.id) }
        change { state in
            guard state.open?.id == open.id else { return }
            state.open?.isLoadingMore = false
            guard let found else { return }
            state.open?.last = found.documents.last ?? open.last
            state.open?.hasMore = found.count == 50
        }
    }

    /// Starts a load; returns nil if one is running or there are no older messages.
    private func begin() -> Opened? {
        state.withLock { state in
            guard let open = state.open, open.hasMore, !open.isLoadingMore else { return nil }
            state.open?.isLoadingMore = true
            return open
        }
    }

    private func send(_ text: String) async {
        guard let open = state.withLock({ $0.open }) else { return }
        change { $0.open?.sending += 1 }
        let message = Message(
            in: open.id, author: me, text: text, timestamp: Timestamp(date: phone.now()))
        let conversation = firestore.collection("conversations").document(open.id)
        let batch = firestore.batch()
        _ = try? batch.setData(
            from: message, forDocument: firestore.collection("messages").document())
        batch.updateData(
            [
                "lastText": text, "lastMessageAt": FieldValue.serverTimestamp(),
                "updatedAt": FieldValue.serverTimestamp(),
            ], forDocument: conversation)
        // The call returns when the server has the message. Offline, it waits for a network.
        try? await batch.commit()
        change { $0.open?.sending -= 1 }
    }

    // MARK: Drawing

    private func change(_ body: (inout sending State) -> Void) {
        state.withLock { body(&$0) }
        draw()
    }

    private func draw() {
        let screens = MessagesScreens(me: me, now: Timestamp(date: phone.now()))
        publisher.show(
            state.withLock { state in
                guard let open = state.open else {
                    let all = state.conversations
                    return screens.list(all ?? [], all == nil ? .loading : .quiet)
                }
                var screen = screens.conversation(
                    open.title, messages: open.shown,
                    state: open.hasAny ? .quiet : .loading,
                    hasMore: open.hasMore)
                if open.sending > 0 {
                    screen.sections.append(Screen.Section(nil, [Row("spinner", "Sending…")]))
                }
                return screen
            })
    }

    public func tap(_ id: String, _ text: String) async {
        switch id {
        case "back":
            state.withLock { $0.open?.listener }?.remove()
            change { $0.open = nil }
        case "older": await loadMore()
        case "send" where !text.isEmpty: Task { await send(text) }
        default:
            let tapped = state.withLock { state in
                state.open == nil ? state.conversations?.first { $0.id == id } : nil
            }
            if let tapped { open(tapped) }
        }
    }

    public func readPlan() async -> [String] {
        [
            "Every conversation is listened to, without a limit.",
            "Every message of a conversation that is opened is listened to, and its pages are read beside it.",
        ]
    }

    public func networkMayBeBack() async { firestore.networkMayBeBack() }

    public func clockChanged() async { draw() }

    public func close() async {
        minutes.withLock { $0 }?.cancel()
        await firestore.terminate()
        publisher.finish()
    }
}
