import Tidemark
import TidemarkApp
import TidemarkModel

/// A conversation of the messaging app, one for each side, so that neither sees the other's changes.
struct Conversation: Sendable {
    static let pageSize = 50

    private let name: String
    let events: [HistoryEvent]

    init(_ name: String, _ events: [HistoryEvent]) {
        self.name = name
        self.events = events
    }

    func collection(_ side: Side) -> CollectionPath {
        CollectionPath(unchecked: "conversations/\(name)-\(side.rawValue)/messages")
    }

    var seed: [Mutation] {
        Side.allCases.flatMap { side in
            events.map { HistoryScript.insert($0, collection(side)) }
        }
    }

    /// New messages at the head, one after the other.
    func arrivals(_ events: ArraySlice<HistoryEvent>, _ side: Side) -> [Mutation] {
        events.map { HistoryScript.insert($0, collection(side)) }
    }

    // Inlined into a caller that goes on waiting, it makes the optimiser of Swift 6.3.1 crash.
    @inline(never)
    func truth(_ side: Side, _ server: DirectServer) async throws -> Truth {
        Truth(try await server.documents(in: collection(side)))
    }

    /// The live head, as the server is asked for it.
    func newestPage(_ side: Side) -> TidemarkModel.Query {
        var query = TidemarkModel.Query(collection: collection(side))
        query.orders = [Order(FieldPath(name: ItemFields.time), .descending)]
        query.limit = .first(Self.pageSize)
        return query
    }

    /// Newest first, as all clients read it.
    func newestFirst(_ firestore: Firestore, _ side: Side) -> Tidemark.Query {
        firestore.collection(collection(side).text).order(by: ItemFields.time, descending: true)
    }

    func pager(_ firestore: Firestore, _ side: Side) throws -> Pager {
        try Pager(
            firestore.collection(collection(side).text), orderedBy: ItemFields.time,
            pageSize: Self.pageSize)
    }
}

extension Pager {
    /// Waits for a state; the newest counts.
    func first(where isSought: (PagerState) -> Bool) async throws -> PagerState {
        for await state in states where isSought(state) { return state }
        throw CancellationError()
    }
}
