import Tidemark
import TidemarkApp
import TidemarkModel

/// A new phone in a long chat: the newest messages, and older ones as somebody scrolls to them.
///
/// Of the messages alone, each read once. The chat's screen of `Examples/Chats` also listens, which is one
/// read more: 101 at first and 151 in all.
struct LongChatRow: ScenarioRow {
    /// Messages that the feed holds, and that are scrolled to beyond them.
    private static let held = 100
    private static let scrolled = 50
    private let events: [HistoryEvent]

    init(_ events: [HistoryEvent]) { self.events = events }

    let slug = "long-chat"
    var name: String {
        "a new phone, a chat of \(grouped(events.count)): the newest \(Self.held), then "
            + "\(Self.scrolled) older"
    }
    var bar: Bar {
        Bar(
            reads: Self.held + Self.scrolled, fewer: 0.9, showsContentOffline: false,
            most: ["reads at first": Double(Self.held)])
    }

    /// On 3G the app as it was reads 100,000 messages for nearly four minutes.
    let patience = Duration.seconds(600)

    private let collection = CollectionPath(unchecked: "chats/long/messages")

    var seed: [Mutation] {
        Membership.set(above: collection) + events.map { HistoryScript.insert($0, collection) }
    }

    func use(_ side: Side, _ visit: Visit) async throws -> [ShownItem] {
        let firestore = try await visit.firestore()
        let items = firestore.collection(collection.text)
        switch side {
        case .before:
            return try await visit.readAll(items).shownItems
        case .after:
            let feed = try Feed(
                FeedDefinition(
                    query: items, itemTime: ItemFields.time,
                    way: .changeTime(ItemFields.updatedAt, deletedField: ItemFields.deletedAt),
                    window: Self.held, limit: Self.held))
            try await feed.open()
            let first = try await visit.retrying { try await feed.sync() }
            visit.isUpToDate()
            visit.measured("reads at first", Double(first.reads))
            let wanted = Self.held + Self.scrolled
            try await visit.retrying {
                let missing = wanted - (await feed.items.count)
                if missing > 0 { try await feed.loadMore(missing) }
            }
            return await feed.items.map(\.document).shownItems
        }
    }

    func truth(_ side: Side, _ server: DirectServer) async throws -> Truth {
        let all = try await server.documents(in: collection)
        return side == .before ? Truth(all) : Truth(newest: Self.held + Self.scrolled, of: all)
    }
}
