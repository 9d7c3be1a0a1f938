import Tidemark
import TidemarkApp
import TidemarkModel

/// A conversation of the messaging app, one for each side, so that neither sees the other's changes.
///
/// As in that app, all messages are in one collection, and each names its conversation.
struct Conversation: Sendable {
    static let pageSize = 50
    static let messages = CollectionPath(unchecked: "messages")
    static let conversations = CollectionPath(unchecked: "conversations")
    /// The field with the conversation's id, and the time that messages are ordered by.
    static let (idField, time) = ("conversationId", "timestamp")

    private let name: String
    let events: [HistoryEvent]

    init(_ name: String, _ events: [HistoryEvent]) {
        self.name = name
        self.events = events
    }

    func id(_ side: Side) -> String { "\(name)-\(side.rawValue)" }

    var seed: [Mutation] {
        Side.allCases.flatMap { side in
            [Self.begin(id(side))] + events.map { insert($0, side) }
        }
    }

    /// The document that says who takes part.
    static func begin(_ id: String) -> Mutation {
        Membership.set(DocumentPath(unchecked: "\(conversations.text)/\(id)"))
    }

    /// New messages at the head, one after the other.
    func arrivals(_ events: ArraySlice<HistoryEvent>, _ side: Side) -> [Mutation] {
        events.map { insert($0, side) }
    }

    func insert(_ event: HistoryEvent, _ side: Side) -> Mutation {
        var mutation = HistoryScript.insert(own(event, side), Self.messages)
        if case .set(var fields) = mutation.operation {
            fields[Self.idField] = .string(id(side))
            fields[Self.time] = fields[ItemFields.time]
            fields[ItemFields.time] = nil
            mutation.operation = .set(fields)
        }
        return mutation
    }

    func edit(_ event: HistoryEvent, _ number: Int, _ side: Side) -> Mutation {
        HistoryScript.edit(own(event, side), number, Self.messages)
    }

    /// Marks it, as the app does.
    func markDeleted(_ event: HistoryEvent, _ side: Side) -> Mutation {
        HistoryScript.delete(own(event, side), event.committedAt, Self.messages)
    }

    func path(_ event: HistoryEvent, _ side: Side) -> DocumentPath {
        DocumentPath(unchecked: "\(Self.messages.text)/\(own(event, side).id)")
    }

    /// Under an id that no other conversation has.
    private func own(_ event: HistoryEvent, _ side: Side) -> HistoryEvent {
        HistoryEvent(
            id: "\(id(side))-\(event.id)", author: event.author, authoredAt: event.authoredAt,
            committedAt: event.committedAt, text: event.text)
    }

    // Inlined into a caller that goes on waiting, it makes the optimiser of Swift 6.3.1 crash.
    @inline(never)
    func truth(_ side: Side, _ server: DirectServer) async throws -> Truth {
        Truth(try await server.documents(of: Self.query(id(side))))
    }

    /// All messages of a conversation, as the server is asked for them.
    static func query(_ id: String) -> TidemarkModel.Query {
        var query = TidemarkModel.Query(collection: messages)
        query.filter = .field(FieldPath(name: idField), .equal, .string(id))
        return query
    }

    /// The live head, as the server is asked for it.
    func newestPage(_ side: Side) -> TidemarkModel.Query {
        var query = Self.query(id(side))
        query.orders = [Order(FieldPath(name: Self.time), .descending)]
        query.limit = .first(Self.pageSize)
        return query
    }

    static func messages(of id: String, _ firestore: Firestore) -> Tidemark.Query {
        firestore.collection(messages.text).whereField(idField, isEqualTo: id)
    }

    /// Newest first, as all clients read it.
    func newestFirst(_ firestore: Firestore, _ side: Side) -> Tidemark.Query {
        Self.messages(of: id(side), firestore).order(by: Self.time, descending: true)
    }

    func pager(
        _ firestore: Firestore, _ side: Side, pagesFromDisk: PagesFromDisk = .never
    ) throws -> Pager {
        try Pager(
            Self.messages(of: id(side), firestore), orderedBy: Self.time,
            pageSize: Self.pageSize, pagesFromDisk: pagesFromDisk)
    }
}

extension Pager {
    /// Waits for a state; the newest counts.
    func first(where isSought: (PagerState) -> Bool) async throws -> PagerState {
        for await state in states where isSought(state) { return state }
        throw CancellationError()
    }
}
