import TidemarkModel
import TidemarkStore

/// What the cache has of a query besides its rows, which are all known: forgotten in slices, and then
/// the query is confirmed. Ended half way, it has forgotten only what is no row.
struct Pruning: Sendable {
    let query: Query
    var names: NameDigests
    let readTime: Timestamp
    /// Of the user for whom the query was read.
    let session: UInt64
    /// The last document that was looked at.
    var last: StoredDocument?
    /// Whether nothing is left to be looked at.
    var isOver: Bool
    static let slice = 300

    init(
        _ query: Query, _ names: NameDigests, _ count: Int, _ readTime: Timestamp, session: UInt64
    ) {
        self.query = query
        self.names = names
        self.readTime = readTime
        self.session = session
        // What is beyond a limit that was reached, or was passed over, may still be there.
        isOver = query.offset > 0 || query.limit.map { count >= $0.count } ?? false
    }

    /// The documents that are looked at next: by the query where an index has its order, and where none
    /// does, all of its collection by name.
    func page(in table: DocumentTable) throws -> Query {
        var page = query
        page.limit = nil
        if try !table.readsInOrder(page) {
            // Of many collections all at once.
            guard !query.allDescendants else { return page }
            page = Query(parent: query.parent, collectionID: query.collectionID)
        }
        page.orders = page.normalizedOrders
        page.limit = .first(Self.slice)
        if let last {
            page.start = Cursor(
                behind: last.path, last.contents, in: page.orders, of: table.database)
        }
        return page
    }
}

extension LocalStore {
    /// Forgets the next documents that are no rows, and confirms the query after the last ones.
    func prune(
        _ pruning: inout Pruning, isListened: (DocumentPath) -> Bool
    ) throws -> [LocalDocument] {
        let prepared = PreparedQuery(pruning.query, in: database)
        var others: [DocumentPath] = []
        if !pruning.isOver {
            var looked = 0
            var isPage = true
            var (names, last) = (pruning.names, pruning.last)
            _ = try read { transaction in
                let table = transaction.documents(of: database)
                let page = try pruning.page(in: table)
                isPage = page.limit != nil
                return try table.run(page) { document in
                    looked += 1
                    last = document
                    if LocalDocument(document).isRow(of: prepared), !names.contains(document.path),
                        document.updateTime <= pruning.readTime,
                        !document.hasCommittedMutations || document.readTime <= pruning.readTime,
                        !isListened(document.path)
                    {
                        others.append(document.path)
                    }
                    return true
                }
            }
            pruning.names = names
            pruning.last = last
            pruning.isOver = !isPage || looked < Pruning.slice
        }
        guard pruning.isOver || !others.isEmpty else { return [] }
        return try remote.forget(
            others, confirming: pruning.isOver ? pruning.query.wireForm : nil,
            at: pruning.readTime)
    }
}
