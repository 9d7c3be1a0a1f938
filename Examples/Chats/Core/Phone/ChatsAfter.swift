public import ExampleKit
import Foundation
public import Observation
import Tidemark
import TidemarkApp
import TidemarkFiles

/// The chat app on Tidemark, running on a phone.
@MainActor @Observable
public final class ChatsAfter: PhoneApp {
    private enum Place {
        case list
        case chat(title: String, ChatModel)
        case notices(FeedModel<Notice>)
        case blocked(BlockedUsersModel)
        case search(UserSearchModel)
    }

    @ObservationIgnored private let phone: PhoneEnvironment
    @ObservationIgnored private let app: ChatsApp
    private nonisolated let publisher = ScreenPublisher(Screen("Chats"))
    private var list: ChatListModel?
    private var place = Place.list
    /// The photos on the screen; nil if the phone has no Storage.
    private var photos: ShownPhotos?
    /// Follows the uploads of the chat that is open.
    @ObservationIgnored private var following: Task<Void, Never>?
    /// The number of photos that the user has chosen.
    @ObservationIgnored private var chosenPhotos = 0
    /// The number of times that the clock was changed.
    private var turns = 0

    public nonisolated var screens: AsyncStream<Screen> { publisher.screens }

    public nonisolated init(_ phone: PhoneEnvironment) throws {
        self.phone = phone
        let firestore = try phone.firestore(phone.settings)
        var app = ChatsApp(
            firestore, me: phone.settings.user.id, photos: AppPhotos(firestore, phone.settings))
        app.now = { Timestamp(date: phone.now()) }
        app.clock = phone.clock
        self.app = app
        Task { await self.begin() }
    }

    private func begin() {
        list = try? app.chats()
        if let photos = app.photos {
            self.photos = try? ShownPhotos(photos, folder: phone.settings.folder + "/pictures")
            // Sends the photos of earlier processes too.
            Task { await photos.outbox.start() }
        }
        publisher.follow { [weak self] in
            self?.loadPhotos()
            return self?.screen
        }
    }

    private func loadPhotos() {
        guard case .chat(_, let chat) = place else { return }
        photos?.load(messages(of: chat), of: chat)
    }

    private func messages(of chat: ChatModel) -> [ChatMessage] {
        chat.messages.items.reversed().map(\.value) + chat.outgoing
    }

    private var screen: Screen {
        _ = turns
        let screens = ChatsScreens(me: app.me, now: app.now())
        switch place {
        case .list: return listScreen(screens)
        case .chat(let title, let chat): return chatScreen(of: chat, titled: title, screens)
        case .notices(let feed):
            return screens.notices(
                feed.items.map(\.value),
                screens.state(feed.phase, isEmpty: feed.items.isEmpty, empty: "Nothing new."),
                hasMore: feed.hasMore)
        case .blocked(let blocked): return blockedScreen(screens, blocked)
        case .search(let search): return searchScreen(screens, search)
        }
    }

    private func listScreen(_ screens: ChatsScreens) -> Screen {
        guard let list else { return Screen("Chats") }
        return screens.list(
            list.rows,
            screens.state(list.phase, isEmpty: list.rows.isEmpty, empty: "Nobody has written yet."),
            hasMore: list.hasMore)
    }

    private func chatScreen(
        of chat: ChatModel, titled title: String, _ screens: ChatsScreens
    ) -> Screen {
        let shown = messages(of: chat)
        let waiting =
            chat.messages.items.filter(\.hasPendingWrites).map(\.value) + chat.outgoing
        var photos = ChatPhotos(loaded: self.photos?.loaded ?? [:], canSend: app.photos != nil)
        for upload in chat.uploads { photos.uploads[upload.document.id] = upload }
        return screens.chat(
            title, messages: shown, waiting: Set(waiting.compactMap(\.id)), photos: photos,
            state: screens.state(chat.messages.phase, isEmpty: shown.isEmpty, empty: "Say hello."),
            hasMore: chat.messages.hasMore, problem: chat.problem)
    }

    private func blockedScreen(_ screens: ChatsScreens, _ blocked: BlockedUsersModel) -> Screen {
        let people = blocked.entries.map { entry in
            (id: entry.id, name: entry.detail?.document?.get("name") as? String ?? entry.id)
        }
        let state: Screen.State =
            switch blocked.phase {
            case .loading: .loading
            case .empty: .empty("Nobody is blocked.")
            case .stale where people.isEmpty: .loading
            case .stale(let age): .stale(age: age?.seconds, reason: "Looking for news.")
            case .fresh:
                blocked.detailsError.map { .stale(age: nil, reason: $0.message) } ?? .fresh
            case .failed(let error):
                people.isEmpty
                    ? .failed(reason: error.message, wayOut: "again")
                    : .stale(age: nil, reason: error.message)
            }
        return screens.blocked(people, state)
    }

    private func searchScreen(_ screens: ChatsScreens, _ search: UserSearchModel) -> Screen {
        let people = search.documents.map {
            (id: $0.documentID, name: $0.get("name") as? String ?? $0.documentID)
        }
        let state: Screen.State =
            if let error = search.error {
                .failed(reason: error.message, wayOut: "again")
            } else if search.isSearching {
                .loading
            } else {
                people.isEmpty ? .empty("Nobody of that name.") : .fresh
            }
        return screens.search(people, state)
    }

    // MARK: User actions

    public func tap(_ id: String, _ text: String) async {
        switch (place, id) {
        case (_, "back"):
            following?.cancel()
            photos?.close()
            place = .list
        case (.list, "notices"): place = (try? app.notices()).map { .notices($0) } ?? .list
        case (.list, "search"): place = (try? app.search()).map { .search($0) } ?? .list
        case (.list, "blocked"):
            guard let blocked = try? app.blocked() else { return }
            place = .blocked(blocked)
        case (.list, "again"): Task { [list] in await list?.refresh() }
        case (.list, "older"): await list?.loadMore()
        case (.list, _): await open(id)
        case (.chat(_, let chat), "send") where !text.isEmpty: await chat.send(text)
        case (.chat(_, let chat), "photo"): await sendPhoto(text, in: chat)
        case (.chat(_, let chat), "retryPhotos"):
            for photo in chat.uploads where photo.isRefused { await chat.retry(photo) }
        case (.chat(_, let chat), "discardPhotos"):
            for photo in chat.uploads where photo.isRefused { await chat.discard(photo) }
        case (.chat(_, let chat), "clear"): await chat.clear()
        case (.chat(_, let chat), "older"): Task { await chat.loadEarlier() }
        case (.chat(_, let chat), "again"): Task { await chat.messages.refresh() }
        case (.notices(let feed), "clear"): try? await feed.clear()
        case (.notices(let feed), "older"): try? await feed.loadMore()
        case (.notices(let feed), "again"): Task { await feed.refresh() }
        case (.blocked(let blocked), "again"): Task { await blocked.refresh() }
        case (.blocked(let blocked), _): try? await blocked.unblock(id)
        case (.search(let search), "name"): search.text = text
        case (.search(let search), "again"): search.retry()
        case (.search, _): await block(id)
        default: break
        }
    }

    private func open(_ id: String) async {
        guard let row = list?.rows.first(where: { $0.id == id }), let chat = try? app.chat(id)
        else { return }
        place = .chat(title: row.chat.title, chat)
        following = Task { await chat.followUploads() }
        await list?.markSeen(row)
    }

    /// Sends the next photo that the user has taken, with a text.
    private func sendPhoto(_ text: String, in chat: ChatModel) async {
        let number = chosenPhotos
        chosenPhotos += 1
        guard let photo = phone.settings.photo(after: number) else { return }
        await chat.send(text, photo: FileUpload(photo))
    }

    private func block(_ id: String) async {
        guard let blocked = try? app.blocked() else { return }
        place = .blocked(blocked)
        try? await blocked.block(id)
    }

    public func readPlan() async -> [String] {
        guard let plan = try? await app.nextOpen() else { return [] }
        return [
            "Show the newest chats from disk: no reads.",
            "\(plan.reason) At least \(plan.prediction.atLeast) reads.",
            "What was seen is one document: one read, and one for each change.",
        ]
    }

    public func networkMayBeBack() async {
        app.firestore.networkMayBeBack()
        loadPhotos()
    }

    public func clockChanged() async { turns += 1 }

    public func close() async {
        following?.cancel()
        photos?.close()
        (list, place) = (nil, .list)
        await app.photos?.outbox.stop()
        await app.firestore.terminate()
        publisher.finish()
    }
}
