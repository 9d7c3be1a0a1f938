import TidemarkModel
import TidemarkStore

/// Removes the documents of a query from the cache that are not among its known rows, in slices,
/// and then confirms the query. If interrupted, it has removed only documents that are not rows.
struct Pruning: Sendable {
    let query: Query
    var names: NameDigests
    let readTime: Timestamp
    /// The session of the user for whom the query was read.
    let session: UInt64
    /// The last document visited.
    var last: StoredDocument?
    /// True if no document is left to visit.
    var isOver: Bool
    static let slice = 300

    init(
        _ query: Query, names: NameDigests, count: Int, readTime: Timestamp, session: UInt64
    ) {
        self.query = query
        self.names = names
        self.readTime = readTime
        self.session = session
        // Documents beyond a reached limit, or skipped by the offset, may still exist.
        isOver = query.offset > 0 || query.limit.map { count >= $0.count } ?? false
    }

    /// Returns the query for the next documents: the query itself if an index has its order,
    /// otherwise all documents of its collection by name.
    func page(in table: DocumentTable) throws -> Query {
        var page = query
        page.limit = nil
        if try !table.readsInOrder(page) {
            // A query over several collections visits all documents in one page.
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
    /// Removes the next documents that are not rows, and confirms the query after the last ones.
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
