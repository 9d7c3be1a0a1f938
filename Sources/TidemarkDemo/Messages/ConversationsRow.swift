import Tidemark
import TidemarkApp
import TidemarkModel

/// The list of conversations pages as the messages do. Each page is asked for by two at once; and
/// somebody without conversations has no pages.
struct ConversationsRow: ScenarioRow {
    private static let owner = "grace"
    private static let collection = Conversation.conversations

    private let events: [HistoryEvent]

    init(_ events: [HistoryEvent]) { self.events = events }

    let slug = "conversations"
    var name: String {
        "page a list of \(grouped(events.count)) conversations, each page asked for twice at once"
    }
    /// Each once, and one for a list without any.
    var bar: Bar {
        Bar(
            reads: events.count + 1, showsContentOffline: false,
            exactly: ["loads at once": 1, "an empty list has more": 0])
    }

    func user(_ side: Side) -> String { Self.owner }

    var seed: [Mutation] {
        events.map { event in
            Mutation(
                path: DocumentPath(unchecked: "\(Self.collection.text)/\(event.id)"),
                .set([
                    Membership.field: .array([.string(Self.owner), .string(event.author)]),
                    ItemFields.text: .string(event.text),
                    ItemFields.time: .timestamp(
                        Timestamp(seconds: event.authoredAt, nanoseconds: 0)),
                ]))
        }
    }

    func use(_ side: Side, _ visit: Visit) async throws -> [ShownItem] {
        let firestore = try visit.firestore()
        switch side {
        case .before:
            let shown = try await listen(firestore)
            visit.isUpToDate()
            return shown
        case .after:
            let pager = try self.pager(of: Self.owner, firestore)
            defer { pager.close() }
            var state = try await pager.first { !$0.isFromCache && !$0.isLoadingMore }
            visit.sawContent()
            var mostAtOnce = 0
            while state.hasMore {
                let count = state.items.count
                pager.loadMore()
                pager.loadMore()
                state = try await pager.first {
                    !$0.isLoadingMore && ($0.items.count > count || !$0.hasMore)
                }
                let pages = (state.items.count - count - 1) / Conversation.pageSize + 1
                mostAtOnce = max(mostAtOnce, pages)
            }
            visit.measured("loads at once", Double(mostAtOnce))
            let empty = try self.pager(of: "nobody", try visit.firestore(on: "new", as: "nobody"))
            defer { empty.close() }
            let nothing = try await empty.first { !$0.isFromCache && !$0.isLoadingMore }
            visit.measured("an empty list has more", nothing.hasMore ? 1 : 0)
            visit.isUpToDate()
            return state.items.shownItems
        }
    }

    func truth(_ side: Side, _ server: DirectServer) async throws -> Truth {
        var query = TidemarkModel.Query(collection: Self.collection)
        query.filter = .field(
            FieldPath(name: Membership.field), .arrayContains, .string(Self.owner))
        return Truth(try await server.documents(of: query))
    }

    private func pager(of user: String, _ firestore: Firestore) throws -> Pager {
        try Pager.conversations(
            of: user, in: firestore.collection(Self.collection.text), members: Membership.field,
            lastMessageAt: ItemFields.time, pageSize: Conversation.pageSize)
    }

    /// The app as it was: a listener on all of them.
    private func listen(_ firestore: Firestore) async throws -> [ShownItem] {
        let query = firestore.collection(Self.collection.text)
            .whereField(Membership.field, arrayContains: Self.owner)
            .order(by: ItemFields.time, descending: true)
        // tidemark:ignore unbounded-listener the app as it was
        for try await snapshot in query.snapshots(includeMetadataChanges: true) {
            if !snapshot.metadata.isFromCache { return snapshot.documents.shownItems }
        }
        throw CancellationError()
    }
}
