import ChatsCore
import Tidemark
import TidemarkApp
import TidemarkModel

/// A new phone in a long chat: it reads the newest messages, and older ones when the user scrolls.
struct LongChatRow: ScenarioRow {
    /// The number of messages that the feed holds, and the number of older messages to which the
    /// user scrolls.
    private static let held = ChatsApp.heldMessages
    private static let scrolled = 50
    private let events: [HistoryEvent]

    init(_ events: [HistoryEvent]) { self.events = events }

    let slug = "long-chat"
    let isFilteredAsBefore = true
    let isUsedBefore = false
    var name: String {
        "a new phone, a chat of \(grouped(events.count)): the newest \(Self.held), then "
            + "\(Self.scrolled) older"
    }
    /// The reads are one for each message, one for the listener, which finds nothing new at first,
    /// and one for the mark of the last clear, which the user's devices share.
    var bar: Bar {
        Bar(
            reads: Self.held + Self.scrolled + 2, fewer: 0.9, showsContentOffline: false,
            most: ["reads at first": Double(Self.held + 2)])
    }

    /// The app as it was needs almost four minutes on 3G to read 100,000 messages.
    let patience = Duration.seconds(600)

    private let collection = CollectionPath(unchecked: "chats/long/messages")

    var seed: [Mutation] {
        Membership.set(above: collection) + events.map { HistoryScript.insert($0, collection) }
    }

    /// Predicts the newest messages, and the page of older ones to which the user scrolls.
    func forecast(_ firestore: Firestore) async throws -> Forecast? {
        let newest = WrittenDocuments(seed).newest(in: collection, by: ItemFields.time)
        var forecast = Forecast()
        let chat = ChatsApp(firestore, me: Membership.user).messages(of: "long")
        try await forecast.add(Feed(chat), changed: [], newest: newest)
        let older = newest.dropFirst(Self.held).prefix(Self.scrolled)
        forecast.add("an older page of \(older.count)", .query(older))
        return forecast
    }

    func use(_ side: Side, _ visit: Visit) async throws -> [ShownItem] {
        let firestore = try await visit.firestore()
        switch side {
        case .before, .filtered:
            return try await visit.readAll(firestore.collection(collection.text)).shownItems
        case .after: return try await scroll(firestore, visit)
        }
    }

    @MainActor
    private func scroll(_ firestore: Firestore, _ visit: Visit) async throws -> [ShownItem] {
        let app = ChatsApp(firestore, me: Membership.user)
        let bills = firestore.readMeter.events
        let chat = try app.chat("long")
        try await chat.messages.untilFresh()
        visit.isUpToDate()
        try await visit.untilListening(firestore, bills)
        visit.measured("reads at first", Double(try await visit.reads(of: firestore)))
        return try await chat.show(upTo: Self.held + Self.scrolled, visit)
    }

    func truth(_ side: Side, _ server: DirectServer) async throws -> Truth {
        let all = try await server.documents(in: collection)
        return side != .after ? Truth(all) : Truth(newest: Self.held + Self.scrolled, of: all)
    }
}
