import Tidemark
import TidemarkApp
import TidemarkModel

/// A device that holds nothing, of a user who cleared the chat on another one.
///
/// Of a feed that is brought up to date twice. The chat's screen of `Examples/Chats` listens, to the mark too,
/// which its first sync reads beside that: with the next time it is up to one read more than the bar.
struct NewDeviceRow: ScenarioRow {
    private static let mark = "fetch_message_after"
    private let events: [HistoryEvent]
    private let above: Int
    private let cleared: Timestamp

    /// - Parameter above: How many messages are newer than the clear.
    init(_ events: [HistoryEvent], above: Int) {
        let times = events.map(\.authoredAt).sorted()
        cleared = Timestamp(seconds: times[times.count - above - 1], nanoseconds: 0)
        self.events = events
        self.above = times.count { $0 > times[times.count - above - 1] }
    }

    let slug = "new-device"
    var name: String {
        "new device, a chat of \(grouped(events.count)) cleared elsewhere but for \(above)"
    }
    /// The messages above the mark, and the mark; and the next time the mark again, and one for asking.
    var bar: Bar {
        Bar(
            reads: above + 3, fewer: 0.85, showsContentOffline: false,
            most: ["reads next time": 2])
    }

    private let collection = CollectionPath(unchecked: "chats/shared/messages")
    private let document = "users/grace"

    func user(_ side: Side) -> String { "grace" }

    var seed: [Mutation] {
        let milliseconds = cleared.seconds * 1_000
        let chat = Membership.set(above: collection, of: "grace")
        return chat + events.map { HistoryScript.insert($0, collection) } + [
            Mutation(
                path: DocumentPath(unchecked: document), .set([Self.mark: .integer(milliseconds)]))
        ]
    }

    func use(_ side: Side, _ visit: Visit) async throws -> [ShownItem] {
        let firestore = try await visit.firestore()
        let items = firestore.collection(collection.text)
        switch side {
        case .before:
            // It knew the mark too, and hid what it had read.
            return try await visit.readAll(items).filter { isVisible($0.fields?[ItemFields.time]) }
                .shownItems
        case .after:
            let feed = try Feed(
                FeedDefinition(
                    query: items, itemTime: ItemFields.time,
                    way: .changeTime(ItemFields.updatedAt, deletedField: ItemFields.deletedAt),
                    sharedMark: .init(firestore.document(document), field: Self.mark)))
            try await feed.open()
            _ = try await visit.retrying { try await feed.sync() }
            visit.isUpToDate()
            let again = try await visit.retrying { try await feed.sync() }
            visit.measured("reads next time", Double(again.reads))
            return try await feed.loadAll().map(\.document).shownItems
        }
    }

    func truth(_ side: Side, _ server: DirectServer) async throws -> Truth {
        Truth(try await server.documents(in: collection)) { document in
            isVisible(document.fields[ItemFields.time])
        }
    }

    private func isVisible(_ time: TidemarkModel.Value?) -> Bool {
        guard case .timestamp(let time)? = time else { return false }
        return time > cleared
    }
}
