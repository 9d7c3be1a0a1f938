// tidemark:ignore-file decode-on-main the app as it was: lint finds what it did
// tidemark:ignore-file listener-error-ignored the app as it was: lint finds what it did
// tidemark:ignore-file listener-never-removed the app as it was: lint finds what it did
// tidemark:ignore-file read-in-loop the app as it was: lint finds what it did
// tidemark:ignore-file unbounded-listener the app as it was: lint finds what it did
// tidemark:ignore-file write-error-ignored the app as it was: lint finds what it did

public import ExampleKit
import Foundation
import Synchronization
import Tidemark
import TidemarkApp
import TidemarkFiles
import TidemarkImages

/// The old chat app, with the calls of FirebaseFirestore. Each screen attaches a listener to a
/// whole collection, the blocked people are read one by one, and each keystroke of a search asks
/// the server. A photo is held in memory until it is uploaded, and its message is written after it.
public final class ChatsBefore: PhoneApp {
    private enum Place {
        case list
        case chat(id: String, title: String, [ChatMessage]?, after: Timestamp?)
        case notices([Notice]?, after: Timestamp?)
        case blocked([(id: String, name: String)]?)
        case search([(id: String, name: String)])
    }

    /// A message whose photo is being uploaded.
    private struct HeldMessage {
        let chat: String
        let message: ChatMessage
    }

    private struct State {
        var chats: [Chat]?
        var seen: [String: Int] = [:]
        var place = Place.list
        var listeners: [any ListenerRegistration] = []
        var held: [HeldMessage] = []
        /// The photos that are in memory, by their messages.
        var photos: [String: Photo] = [:]
        /// The messages whose photos were requested.
        var requested: Set<String> = []
        /// The number of photos that the user has chosen.
        var chosenPhotos = 0
    }

    private let phone: PhoneEnvironment
    private let firestore: Firestore
    private let storage: Storage?
    private let publisher = ScreenPublisher(Screen("Chats"))
    private let state = Mutex(State())

    public var screens: AsyncStream<Screen> { publisher.screens }
    private var me: String { phone.settings.user.id }
    private var user: DocumentReference { firestore.document("users/\(me)") }
    private var now: Timestamp { Timestamp(date: phone.now()) }

    public init(_ phone: PhoneEnvironment) throws {
        self.phone = phone
        let firestore = try phone.firestore(phone.settings)
        self.firestore = firestore
        storage = phone.settings.storage.map { Storage(firestore, FileSettings($0)) }
        firestore.collection("chats").whereField("members", arrayContains: me)
            .order(by: "lastMessageAt", descending: true)
            .addSnapshotListener { [weak self] snapshot, _ in
                guard let snapshot else { return }
                let all = snapshot.documents.compactMap { try? $0.data(as: Chat.self) }
                self?.change { $0.chats = all.filter { $0.deletedAt == nil } }
            }
        user.collection("state").document("seen").addSnapshotListener { [weak self] document, _ in
            let seen = try? document?.data(as: Seen.self)
            self?.change { $0.seen = seen?.chats ?? [:] }
        }
        draw()
    }

    // MARK: A listener for each screen

    private func listen(
        _ query: Query, _ take: @escaping @Sendable (inout Place, [QueryDocumentSnapshot]) -> Void
    ) {
        let listener = query.addSnapshotListener { [weak self] snapshot, _ in
            guard let snapshot else { return }
            self?.change { take(&$0.place, snapshot.documents) }
        }
        state.withLock { $0.listeners.append(listener) }
    }

    private func open(_ chat: Chat) async {
        guard let id = chat.id else { return }
        change { $0.place = .chat(id: id, title: chat.title, nil, after: nil) }
        let seen: [String: Any] = ["chats": [id: chat.messageCount]]
        user.collection("state").document("seen")
            .setData(seen, merge: true, completion: nil)
        let mark = await clearMark("chat_" + id)
        change { state in
            guard case .chat(id, let title, let shown, _) = state.place else { return }
            state.place = .chat(id: id, title: title, shown, after: mark)
        }
        // Listens to all messages, also the cleared ones. This device only hides them.
        listen(firestore.collection("chats/\(id)/messages").order(by: "sentAt")) {
            place, documents in
            guard case .chat(id, let title, _, let after) = place else { return }
            let all = documents.compactMap { try? $0.data(as: ChatMessage.self) }
            place = .chat(id: id, title: title, all.filter { $0.deletedAt == nil }, after: after)
        }
    }

    private func loadPhotos() {
        if case .chat(_, _, let shown?, _) = state.withLock({ $0.place }) { load(shown) }
    }

    private func openNotices() async {
        change { $0.place = .notices(nil, after: nil) }
        let mark = await clearMark("notices")
        change { $0.place = .notices(nil, after: mark) }
        let query = user.collection("notifications").order(by: "createdAt", descending: true)
        listen(query) { place, documents in
            guard case .notices(_, let after) = place else { return }
            let all = documents.compactMap { try? $0.data(as: Notice.self) }
            place = .notices(all.filter { $0.deletedAt == nil }, after: after)
        }
    }

    /// Reads the whole list and then each person's document, every time.
    private func openBlocked() async {
        change { $0.place = .blocked(nil) }
        let list = try? await user.collection("blocked").getDocuments()
        var people: [(id: String, name: String)] = []
        for entry in list?.documents ?? [] where entry.get("deletedAt") == nil {
            let person = try? await firestore.document("users/\(entry.documentID)").getDocument()
            people.append((entry.documentID, person?.get("name") as? String ?? entry.documentID))
        }
        let found = people
        change { if case .blocked = $0.place { $0.place = .blocked(found) } }
    }

    private func search(_ text: String) async {
        let prefix = SearchText.normalized(text)
        if prefix.isEmpty { return change { $0.place = .search([]) } }
        let query = firestore.collection("users").order(by: "searchName")
            .start(at: [prefix]).end(before: [prefix + "\u{f8ff}"]).limit(to: 20)
        guard let found = try? await query.getDocuments() else { return }
        let people = found.documents.map {
            (id: $0.documentID, name: $0.get("name") as? String ?? $0.documentID)
        }
        change { if case .search = $0.place { $0.place = .search(people) } }
    }

    // MARK: Clearing

    private var marks: DocumentReference { user.collection("state").document("oldMarks") }

    private func clearMark(_ field: String) async -> Timestamp? {
        try? await marks.getDocument().get(field) as? Timestamp
    }

    private func clear() async {
        let now = now
        let field = state.withLock { state in
            switch state.place {
            case .chat(let id, let title, let shown, _):
                state.place = .chat(id: id, title: title, shown, after: now)
                return "chat_" + id
            case .notices(let shown, _):
                state.place = .notices(shown, after: now)
                return "notices"
            default: return ""
            }
        }
        draw()
        if !field.isEmpty { try? await marks.setData([field: now], merge: true) }
    }

    private func send(_ text: String) async {
        guard case .chat(let id, _, _, _) = state.withLock({ $0.place }) else { return }
        let message = firestore.collection("chats/\(id)/messages").document()
        try? await write(ChatMessage(author: me, text: text, sentAt: now), to: message, in: id)
    }

    private func write(
        _ message: ChatMessage, to document: DocumentReference, in id: String
    ) async throws {
        let chat = firestore.collection("chats").document(id)
        let batch = firestore.batch()
        try batch.setData(from: message, forDocument: document)
        batch.updateData(
            [
                "lastText": message.text.isEmpty ? "Photo" : message.text,
                "messageCount": FieldValue.increment(Int64(1)),
                "lastMessageAt": FieldValue.serverTimestamp(),
                "updatedAt": FieldValue.serverTimestamp(),
            ], forDocument: chat)
        try await batch.commit()
    }

    // MARK: Photos

    /// Uploads a photo from memory, and then writes its message. If the app ends before, both are
    /// lost.
    private func sendPhoto(_ text: String) async {
        guard let storage, case .chat(let chat, _, _, _) = state.withLock({ $0.place }) else {
            return
        }
        let number = state.withLock { state in
            defer { state.chosenPhotos += 1 }
            return state.chosenPhotos
        }
        guard let file = phone.settings.photo(after: number),
            let bytes = try? Data(contentsOf: file)
        else { return }
        let document = firestore.collection("chats/\(chat)/messages").document()
        let id = document.documentID
        var message = ChatMessage(author: me, text: text, sentAt: now)
        message.id = id
        change { [message] state in
            state.held.append(HeldMessage(chat: chat, message: message))
            state.requested.insert(id)
        }
        show(bytes, of: id)
        let path = document.path + "/photo.jpg"
        var metadata = StorageMetadata()
        metadata.contentType = "image/jpeg"
        if (try? await storage.reference(withPath: path).putDataAsync(bytes, metadata: metadata))
            != nil
        {
            message.photo = StoredFile(
                path: path, size: Int64(bytes.count), type: "image/jpeg", hash: "")
            try? await write(message, to: document, in: chat)
        }
        change { $0.held.removeAll { $0.message.id == id } }
    }

    private func show(_ bytes: Data, of id: String) {
        let picture = try? TidemarkImages.Picture(decoding: [UInt8](bytes), size: Photo.size)
        change { $0.photos[id] = picture.map(Photo.init) }
    }

    /// Loads the photos of messages into memory, each time that the app is opened.
    private func load(_ messages: [ChatMessage]) {
        guard let storage else { return }
        for message in messages {
            guard let id = message.id, let path = message.photo?.path,
                state.withLock({ $0.requested.insert(id).inserted })
            else { continue }
            Task { [weak self] in
                let bytes = try? await storage.reference(withPath: path).data(maxSize: 20 << 20)
                if let bytes { self?.show(bytes, of: id) }
            }
        }
    }

    // MARK: Drawing

    private func change(_ body: (inout State) -> Void) {
        state.withLock { body(&$0) }
        draw()
        loadPhotos()
    }

    private func draw() {
        let screens = ChatsScreens(me: me, now: now)
        publisher.show(
            state.withLock { state in
                switch state.place {
                case .list:
                    let rows = (state.chats ?? []).map { chat in
                        let seen = state.seen[chat.id ?? ""] ?? 0
                        return ChatListModel.Row(
                            chat: chat, unread: max(0, chat.messageCount - seen), isWaiting: false)
                    }
                    return screens.list(rows, state.chats == nil ? .loading : .quiet)
                case .chat(let id, let title, let shown, let after):
                    let visible = (shown ?? []).filter { message in
                        after.map { message.sentAt > $0 } ?? true
                    }
                    let known = Set(visible.compactMap(\.id))
                    let held = state.held.filter { $0.chat == id }.map(\.message)
                        .filter { !known.contains($0.id ?? "") }
                    return screens.chat(
                        title, messages: visible + held, waiting: Set(held.compactMap(\.id)),
                        photos: ChatPhotos(loaded: state.photos, canSend: storage != nil),
                        state: shown == nil ? .loading : .quiet)
                case .notices(let shown, let after):
                    let visible = (shown ?? []).filter { notice in
                        guard let after, let time = notice.createdAt else { return true }
                        return time > after
                    }
                    return screens.notices(visible, shown == nil ? .loading : .quiet)
                case .blocked(let people):
                    return screens.blocked(people ?? [], people == nil ? .loading : .quiet)
                case .search(let people): return screens.search(people, .quiet)
                }
            })
    }

    public func tap(_ id: String, _ text: String) async {
        let place = state.withLock { $0.place }
        switch (place, id) {
        case (_, "back"): leave()
        case (.list, "notices"): Task { await openNotices() }
        case (.list, "blocked"): Task { await openBlocked() }
        case (.list, "search"): change { $0.place = .search([]) }
        case (.search, "name"): Task { await search(text) }
        case (_, "clear"): await clear()
        case (.chat, "photo"): Task { await sendPhoto(text) }
        case (.chat, "send") where !text.isEmpty: Task { await send(text) }
        case (.list, _):
            if let chat = state.withLock({ $0.chats?.first { $0.id == id } }) {
                Task { await open(chat) }
            }
        default: break
        }
    }

    private func leave() {
        for listener in state.withLock({ $0.listeners }) { listener.remove() }
        change { state in
            state.listeners = []
            state.place = .list
        }
    }

    public func readPlan() async -> [String] {
        [
            "Every chat is listened to, without a limit.",
            "Every message of a chat that is opened, every notification, and each blocked person by "
                + "itself.",
        ]
    }

    public func networkMayBeBack() async { firestore.networkMayBeBack() }

    public func clockChanged() async { draw() }

    public func close() async {
        await firestore.terminate()
        publisher.finish()
    }
}
