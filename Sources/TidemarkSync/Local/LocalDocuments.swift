package import TidemarkModel
import TidemarkStore

/// Reads documents and queries of the cache, with pending writes.
final class LocalDocuments {
    private let file: LocalFile
    private let queue: LocalQueue

    init(_ file: LocalFile, _ queue: LocalQueue) {
        self.file = file
        self.queue = queue
    }

    var database: DatabaseID { file.database }

    /// Runs `body` on one consistent state.
    func read<T>(
        _ step: StorageStep = .read, _ body: (StoreTransaction) throws -> T
    ) throws -> T {
        try file.read(step, body)
    }

    func document(at path: DocumentPath) throws -> LocalDocument {
        try read { try queue.document(at: path, $0) }
    }

    /// Returns the query's rows in order, with pending writes, however long that takes.
    func run(_ query: Query) throws -> [LocalDocument] {
        try read { try run(query, $0) }!
    }

    /// Like ``run(_:)``, but returns nil if more than `most` documents or entries must be visited.
    /// A ``QueryRead`` is needed then.
    func run(_ query: Query, lookingAt most: Int) throws -> [LocalDocument]? {
        try read { try run(query, $0, lookingAt: most) }
    }

    /// The initial capacity for rows without a limit in the query, and the maximum initial
    /// capacity.
    private static let (fewRows, mostReserved) = (16, 256)

    /// - Parameter kept: The query's cached plan, if there is one.
    /// - Returns: The rows; nil if more than `most` documents or entries must be visited.
    func run(
        _ query: Query, _ transaction: StoreTransaction, _ kept: KeptPlan? = nil,
        lookingAt most: Int = .max
    ) throws -> [LocalDocument]? {
        if let path = query.onlyDocument {
            let document = try queue.document(at: path, transaction)
            return document.isFound ? [document] : []
        }
        let table = transaction.documents(of: database)
        let written =
            queue.pending.isEmpty
            ? PendingWrites.Written()
            : queue.pending.written(in: PreparedQuery(query, in: database))
        var rows: [LocalDocument] = []
        rows.reserveCapacity(
            min((query.limit?.count ?? Self.fewRows) + written.count, Self.mostReserved))
        if written.count == 0, query.offset == 0 {
            let stats = try table.run(query, kept: kept, lookingAt: most) { row in
                rows.append(LocalDocument(consume row))
                return true
            }
            return stats.isCut ? nil : rows
        }
        var wider = query
        wider.projection = nil
        wider.offset = 0
        if let limit = query.limit {
            // Written documents may no longer match, so as many additional rows must be available.
            let count = limit.count + query.offset + written.count
            if case .first = limit {
                wider.limit = .first(count)
            } else {
                wider.limit = .last(count)
            }
        }
        var enough = Int.max
        if case .first(let count)? = query.limit { enough = count + query.offset }
        let stats = try table.run(wider, kept: kept, lookingAt: most) { row in
            if !queue.pending.hasWrites(row.path) { rows.append(LocalDocument(row)) }
            return rows.count < enough
        }
        if stats.isCut { return nil }
        let others = try self.written(written.unknown, in: query, transaction)
        return merge(query, rows: rows, written: written.rows + others)
    }

    /// Returns the written documents that match the query, ignoring limit and offset.
    ///
    /// - Parameter paths: Paths in collections that the query reads.
    func written(
        _ paths: [DocumentPath], in query: Query, _ transaction: StoreTransaction
    ) throws -> [LocalDocument] {
        if paths.isEmpty { return [] }
        let prepared = PreparedQuery(query, in: database)
        var rows: [LocalDocument] = []
        for path in paths {
            let document = try queue.document(at: path, transaction)
            if document.isRow(of: prepared) { rows.append(document) }
        }
        return rows
    }

    func written(_ paths: [DocumentPath], in query: Query) throws -> [LocalDocument] {
        try read { try written(paths, in: query, $0) }
    }

    /// Inserts written documents into rows that do not contain them, in the query's order, and
    /// applies the limit.
    func merge(
        _ query: Query, rows: [LocalDocument], written: [LocalDocument]
    ) -> [LocalDocument] {
        let order = RowOrder(query)
        var result = rows[...]
        if !written.isEmpty {
            // The rows are already sorted, which this sort exploits.
            let all = (rows + written).compactMap { document in
                document.viewDocument.map {
                    (ViewRow($0, fields: document.contents, order: order), document)
                }
            }
            result = all.sorted { order.precedes($0.0, $1.0) }.map(\.1)[...]
        }
        result = result.dropFirst(query.offset)
        switch query.limit {
        case .first(let count)?: return Array(result.prefix(count))
        case .last(let count)?: return Array(result.suffix(count))
        case nil: return Array(result)
        }
    }

    // MARK: For feeds and pages

    func declareIndexes(for queries: [Query]) throws {
        let missing = try read { transaction in
            let table = transaction.documents(of: database)
            return try queries.filter { try !table.isIndexed($0) }
        }
        guard !missing.isEmpty else { return }
        try file.write(.declareIndexes) { transaction in
            let table = transaction.documents(of: database)
            for query in missing { try table.declareIndexes(for: query) }
        }
    }

    /// Returns the first wanted rows, and reads at most one row beyond them.
    func rows(
        of query: Query, first count: Int, where isWanted: (Document) -> Bool
    ) throws -> CachedRows {
        precondition(query.limit == nil && query.offset == 0 && query.projection == nil)
        return try read { transaction in
            let written = queue.pending.paths(in: query)
            let replaced = Set(written)
            var found: [LocalDocument] = []
            let stats = try transaction.documents(of: database).run(query) { stored in
                guard !replaced.contains(stored.path), let document = stored.document,
                    isWanted(document)
                else { return true }
                found.append(LocalDocument(stored))
                return found.count <= count
            }
            if !written.isEmpty {
                let views = try self.written(written, in: query, transaction)
                found = merge(
                    query, rows: found,
                    written: views.filter { $0.viewDocument.map { isWanted($0.document) } ?? false }
                )
            }
            return CachedRows(
                documents: found.prefix(count).compactMap(\.viewDocument),
                hasMore: found.count > count, rowsScanned: stats.rowsScanned)
        }
    }

    /// Returns the current state of documents, and of the query's documents with pending writes.
    func documents(
        at paths: [DocumentPath], andWrittenIn query: Query?
    ) throws -> [DocumentPath: ViewDocument?] {
        let all = paths + (query.map { Array(queue.pending.paths(in: $0)) } ?? [])
        let views = try documents(at: all).map { ($0.path, $0.viewDocument) }
        return Dictionary(views) { first, _ in first }
    }

    func documents(at paths: [DocumentPath]) throws -> [LocalDocument] {
        try read { transaction in
            try paths.map { try queue.document(at: $0, transaction) }
        }
    }
}

extension Query {
    /// The only document that the query can return, if it selects a document by name and nothing
    /// else.
    var onlyDocument: DocumentPath? {
        guard case .field(let field, .equal, .reference(let name))? = filter, field.isDocumentID,
            !allDescendants, orders.isEmpty, start == nil, end == nil, offset == 0, limit == nil,
            contains(name.path)
        else { return nil }
        return name.path
    }

    /// Returns a query for one document by name.
    package static func document(_ path: DocumentPath, in database: DatabaseID) -> Query {
        var query = Query(collection: path.parent)
        query.filter = .field(
            .documentID, .equal, .reference(ReferenceValue(database: database, path: path)))
        return query
    }
}
