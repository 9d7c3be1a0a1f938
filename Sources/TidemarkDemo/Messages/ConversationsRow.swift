import MessagesCore
import Tidemark
import TidemarkApp
import TidemarkModel

/// A list of conversations that is paged like the messages. Each page is requested twice
/// concurrently. A user without conversations must have no pages.
struct ConversationsRow: ScenarioRow {
    private static let owner = "grace"
    private static let collection = Conversation.conversations

    private let events: [HistoryEvent]

    init(_ events: [HistoryEvent]) { self.events = events }

    let slug = "conversations"
    var name: String {
        "page a list of \(grouped(events.count)) conversations, each page asked for twice at once"
    }
    /// The reads are one for each conversation, and one for the empty list.
    var bar: Bar {
        Bar(
            reads: events.count + 1, showsContentOffline: false,
            exactly: ["loads at once": 1, "an empty list has more": 0])
    }

    func user(_ side: Side) -> String { Self.owner }

    var seed: [Mutation] {
        events.map { event in
            Conversation.begin(
                event.id, with: [Self.owner, event.author], text: event.text,
                at: Timestamp(seconds: event.authoredAt, nanoseconds: 0))
        }
    }

    /// Predicts the pages of the list, and that of the empty list.
    func forecast(_ firestore: Firestore) async throws -> Forecast? {
        let written = WrittenDocuments(seed)
        let documents = written.expected(
            written.fields.keys, by: Conversation.lastMessageAt, changedAt: .min,
            indexed: WrittenDocuments.timeBytes + Self.owner.utf8.count + 1)
        let all = firestore.collection(Self.collection.text)
        var plan = try await Pager.conversations(of: Self.owner, in: all)
            .plan(of: documents, at: Conversation.planned)
        plan.start()
        while plan.hasMore { plan.loadMore() }
        var empty = try await Pager.conversations(of: "nobody", in: all)
            .plan(of: [], at: Conversation.planned)
        empty.start()
        var forecast = Forecast(plan)
        forecast.add(empty)
        return forecast
    }

    func use(_ side: Side, _ visit: Visit) async throws -> [ShownItem] {
        let firestore = try await visit.firestore()
        switch side {
        case .before, .filtered:
            let shown = try await listen(firestore)
            visit.isUpToDate()
            return shown
        case .after:
            return try await page(firestore, visit)
        }
    }

    @MainActor
    private func page(_ firestore: Firestore, _ visit: Visit) async throws -> [ShownItem] {
        let list = try MessagesApp(firestore, me: Self.owner).conversations()
        defer { list.close() }
        try await untilShown { !list.items.isEmpty && list.isUpToDate }
        visit.sawContent()
        var mostAtOnce = 0
        while list.hasMore {
            let count = list.items.count
            try await list.showOlder(askingTimes: 2)
            let pages = (list.items.count - count - 1) / Conversation.pageSize + 1
            mostAtOnce = max(mostAtOnce, pages)
        }
        visit.measured("loads at once", Double(mostAtOnce))
        let nobody = try await visit.firestore(on: "new", as: "nobody")
        let empty = try MessagesApp(nobody, me: "nobody").conversations()
        defer { empty.close() }
        try await untilShown { empty.isUpToDate }
        visit.measured("an empty list has more", empty.pages.hasMore ? 1 : 0)
        visit.isUpToDate()
        return list.items.shownItems
    }

    func truth(_ side: Side, _ server: DirectServer) async throws -> Truth {
        var query = TidemarkModel.Query(collection: Self.collection)
        query.filter = .field(
            FieldPath(name: Membership.field), .arrayContains, .string(Self.owner))
        return Truth(
            try await server.documents(of: query),
            changedAt: side == .after ? ItemFields.updatedAt : nil)
    }

    /// Plays the app as it was: a listener on all conversations.
    private func listen(_ firestore: Firestore) async throws -> [ShownItem] {
        let query = firestore.collection(Self.collection.text)
            .whereField(Membership.field, arrayContains: Self.owner)
            .order(by: Conversation.lastMessageAt, descending: true)
        // tidemark:ignore unbounded-listener the app as it was
        for try await snapshot in query.snapshots(includeMetadataChanges: true) {
            if !snapshot.metadata.isFromCache { return snapshot.documents.shownItems }
        }
        throw CancellationError()
    }
}
