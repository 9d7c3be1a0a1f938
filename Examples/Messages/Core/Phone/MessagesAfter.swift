public import ExampleKit
import Foundation
public import Observation
import Tidemark
import TidemarkApp

/// The messages app on Tidemark, running on a phone.
@MainActor @Observable
public final class MessagesAfter: PhoneApp {
    @ObservationIgnored private let phone: PhoneEnvironment
    @ObservationIgnored private let app: MessagesApp
    private nonisolated let publisher = ScreenPublisher(Screen("Messages"))
    private var list: PagedList<Conversation>?
    private var open: (title: String, model: ConversationModel)?
    private var ticker: Ticker?
    /// The number of times that the clock was changed.
    private var turns = 0
    @ObservationIgnored private var ticking: Task<Void, Never>?

    public nonisolated var screens: AsyncStream<Screen> { publisher.screens }

    public nonisolated init(_ phone: PhoneEnvironment) throws {
        self.phone = phone
        var app = MessagesApp(try phone.firestore(phone.settings), me: phone.settings.user.id)
        app.clock = phone.clock
        app.now = { Timestamp(date: phone.now()) }
        self.app = app
        Task { await self.begin() }
    }

    private func begin() {
        list = try? app.conversations()
        let ticker = Ticker(clock: phone.clock) { [phone] in Timestamp(date: phone.now()) }
        ticking = Task { await ticker.watch() }
        self.ticker = ticker
        publisher.follow { [weak self] in self?.screen }
    }

    private var screen: Screen {
        // Reading these values draws the screen again each minute, and after the clock was turned.
        _ = (ticker?.now, turns)
        let screens = MessagesScreens(me: app.me, now: Timestamp(date: phone.now()))
        if let open {
            let (messages, shown) = (open.model.messages, open.model.shown)
            return screens.conversation(
                open.title, messages: shown,
                state: screens.state(messages.phase, isEmpty: shown.isEmpty, empty: "Say hello."),
                hasMore: messages.hasMore, refused: open.model.refused, problem: open.model.problem)
        }
        guard let list else { return Screen("Messages") }
        return screens.list(
            list.items.reversed(),
            screens.state(
                list.phase, isEmpty: list.items.isEmpty, empty: "Nobody has written yet."),
            hasMore: list.hasMore)
    }

    public func tap(_ id: String, _ text: String) async {
        switch id {
        case "again": open.map { $0.model.messages.tryAgain() } ?? list?.tryAgain()
        case "older": open.map { $0.model.messages.loadMore() } ?? list?.loadMore()
        case "back": leave()
        case "send" where !text.isEmpty: await open?.model.send(text)
        default:
            if let message = open?.model.refused.first(where: { "again \($0.id)" == id }) {
                await open?.model.sendAgain(message)
            } else if open == nil, let tapped = list?.items.first(where: { $0.id == id }) {
                open = (try? app.conversation(id)).map { (tapped.title, $0) }
            }
        }
    }

    private func leave() {
        open?.model.close()
        open = nil
    }

    public func readPlan() async -> [String] {
        [
            "The newest page of conversations is listened to: at most 50 documents, and each change.",
            "A conversation's newest page is listened to: at most 50 documents, and each change.",
            "Older pages that this device holds completely come from disk, for the changes in them.",
        ]
    }

    public func networkMayBeBack() async { app.firestore.networkMayBeBack() }

    public func clockChanged() async { turns += 1 }

    public func close() async {
        ticking?.cancel()
        leave()
        list?.close()
        await app.firestore.terminate()
        publisher.finish()
    }
}
