import MessagesCore
import Tidemark
import TidemarkApp
import TidemarkModel

/// A conversation of the messaging app. Each side has its own, so neither sees the other's changes.
///
/// The documents are those of `Examples/Messages`, and the app on Tidemark uses the screen there.
/// All messages are in one collection, and each message names its conversation.
struct Conversation: Sendable {
    static let pageSize = 50
    static let conversations = CollectionPath(unchecked: "conversations")
    static let messages = CollectionPath(unchecked: "messages")
    /// The field of a message with the conversation's id.
    static let idField = "conversationId"
    /// The fields with the times by which messages and conversations are ordered.
    static let (timestamp, lastMessageAt) = ("timestamp", "lastMessageAt")

    private let name: String
    let events: [HistoryEvent]

    init(_ name: String, _ events: [HistoryEvent]) {
        self.name = name
        self.events = events
    }

    func id(_ side: Side) -> String { "\(name)-\(side.rawValue)" }

    // MARK: What is there

    /// Returns the query for all messages of a conversation.
    static func query(_ id: String) -> TidemarkModel.Query {
        var query = TidemarkModel.Query(collection: messages)
        query.filter = .field(FieldPath(name: idField), .equal, .string(id))
        return query
    }

    var seed: [Mutation] {
        Side.pair.flatMap { side in
            [Self.begin(id(side))] + events.map { insert($0, side) }
        }
    }

    /// Returns the write of the conversation's document, which lists the members.
    ///
    /// - Parameters:
    ///   - title: The title in the list.
    ///   - text: The last text of the conversation.
    ///   - time: The time of the last text; nil for a conversation without messages.
    static func begin(
        _ id: String, with members: [String] = [Membership.user], title: String = "",
        text: String = "", at time: Timestamp? = nil
    ) -> Mutation {
        Mutation(
            path: DocumentPath(unchecked: "\(conversations.text)/\(id)"),
            .set([
                Membership.field: .array(members.map { .string($0) }), "title": .string(title),
                "lastText": .string(text), lastMessageAt: time.map { .timestamp($0) } ?? .null,
            ]),
            transforms: [FieldTransform(FieldPath(name: ItemFields.updatedAt), .serverTimestamp)])
    }

    /// Returns the writes of new messages, in order.
    func arrivals(_ events: ArraySlice<HistoryEvent>, _ side: Side) -> [Mutation] {
        events.map { insert($0, side) }
    }

    func insert(_ event: HistoryEvent, _ side: Side) -> Mutation {
        var mutation = HistoryScript.insert(own(event, side), Self.messages)
        if case .set(var fields) = mutation.operation {
            fields[Self.idField] = .string(id(side))
            fields[Self.timestamp] = fields[ItemFields.time]
            fields[ItemFields.time] = nil
            mutation.operation = .set(fields)
        }
        return mutation
    }

    func edit(_ event: HistoryEvent, number: Int, side: Side) -> Mutation {
        HistoryScript.edit(own(event, side), number: number, collection: Self.messages)
    }

    /// Returns the write that marks a message as deleted, as the app on Tidemark does.
    func markDeleted(_ event: HistoryEvent, _ side: Side) -> Mutation {
        HistoryScript.delete(own(event, side), time: event.committedAt, collection: Self.messages)
    }

    func path(_ event: HistoryEvent, _ side: Side) -> DocumentPath {
        DocumentPath(unchecked: "\(Self.messages.text)/\(own(event, side).id)")
    }

    /// Returns the event with an id that is unique to this conversation.
    private func own(_ event: HistoryEvent, _ side: Side) -> HistoryEvent {
        HistoryEvent(
            id: "\(id(side))-\(event.id)", author: event.author, authoredAt: event.authoredAt,
            committedAt: event.committedAt, text: event.text)
    }

    // Inlined into a caller that awaits more, this makes the optimiser of Swift 6.3.1 crash.
    @inline(never)
    func truth(_ side: Side, _ server: DirectServer) async throws -> Truth {
        Self.truth(side, try await server.documents(of: Self.query(id(side))))
    }

    /// Returns the true content of the newest page.
    func newestTruth(_ side: Side, _ server: DirectServer) async throws -> Truth {
        Self.truth(side, try await server.documents(of: newestPage(side)))
    }

    /// Returns the true content. The screen on Tidemark shows decoded values, and knows only the
    /// field with the time of the last change.
    private static func truth(_ side: Side, _ documents: [Document]) -> Truth {
        Truth(documents, changedAt: side == .after ? ItemFields.updatedAt : nil)
    }

    /// Returns the query for the live newest page.
    func newestPage(_ side: Side) -> TidemarkModel.Query {
        var query = Self.query(id(side))
        query.orders = [Order(FieldPath(name: Self.timestamp), .descending)]
        query.limit = .first(Self.pageSize)
        return query
    }

    // MARK: Who reads it

    /// Returns the query of the app as it was, with the newest message first.
    static func newestFirst(of id: String, _ firestore: Firestore) -> Tidemark.Query {
        firestore.collection(messages.text).whereField(idField, isEqualTo: id)
            .order(by: timestamp, descending: true)
    }

    func newestFirst(_ firestore: Firestore) -> Tidemark.Query {
        Self.newestFirst(of: id(.before), firestore)
    }

    /// The bytes of the indexed values of a message: its conversation and a time.
    private var indexed: Int { WrittenDocuments.timeBytes + id(.after).utf8.count + 1 }

    /// The server's time of the planned use. It is later than each change that the device knows,
    /// and no listener is continued: the device was away for longer than half an hour.
    static let planned = Timestamp(seconds: 4_000_000_000, nanoseconds: 0)

    /// Returns the plan of the app's screen.
    ///
    /// - Parameter news: The writes since the last use.
    func plan(_ firestore: Firestore, _ news: [Mutation] = []) async throws -> PagerPlan {
        let news = news.filter { isOwn($0.path) }
        let old = WrittenDocuments(events.map { insert($0, .after) })
        let changed = Set(news.map(\.path))
        let documents =
            expected(old, old.fields.keys.filter { !changed.contains($0) }, at: .min)
            + expected(WrittenDocuments(events.map { insert($0, .after) } + news), changed)
        let pager = try Pager(
            firestore.collection(Self.messages.text)
                .whereField(Self.idField, isEqualTo: id(.after)), orderedBy: Self.timestamp,
            pagesFromDisk: .keptRight(
                changeTime: ItemFields.updatedAt, deletedField: ItemFields.deletedAt))
        // The last minutes are read again with the changes, and the news are older.
        return try await pager.plan(of: documents, at: Self.planned)
    }

    /// Returns written documents for a plan.
    ///
    /// - Parameter time: The time of their last change; nil for one before the use, which the
    ///   device does not know.
    func expected(
        _ written: WrittenDocuments, _ paths: some Sequence<DocumentPath>, at time: Timestamp? = nil
    ) -> [ExpectedDocument] {
        written.expected(
            paths, by: Self.timestamp,
            changedAt: time ?? Self.planned.advanced(by: .seconds(-Ground.pause)),
            indexed: indexed)
    }

    func isOwn(_ path: DocumentPath) -> Bool { path.id.hasPrefix(id(.after)) }

    /// Opens the app's screen on Tidemark.
    @MainActor func open(_ firestore: Firestore) throws -> ConversationModel {
        try MessagesApp(firestore, me: Membership.user).conversation(id(.after))
    }

    /// Opens the screen on Tidemark from disk, and waits until the server has confirmed its newest
    /// page.
    @MainActor
    func showNewest(
        _ firestore: Firestore, sawContent: @Sendable () -> Void
    ) async throws -> [ShownItem] {
        let model = try open(firestore)
        defer { model.close() }
        try await untilShown { !model.shown.isEmpty }
        sawContent()
        try await untilShown { model.messages.isUpToDate }
        return model.shown.shownItems
    }
}
