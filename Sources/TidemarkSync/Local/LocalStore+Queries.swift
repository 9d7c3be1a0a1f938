import TidemarkModel
import TidemarkStore

extension LocalStore {
    func declareIndexes(for queries: [Query]) throws {
        let missing = try read { transaction in
            let table = transaction.documents(of: database)
            return try queries.filter { try !table.isIndexed($0) }
        }
        guard !missing.isEmpty else { return }
        try write(.declareIndexes) { transaction in
            let table = transaction.documents(of: database)
            for query in missing { try table.declareIndexes(for: query) }
        }
    }

    /// The first rows that are wanted, read no further than one beyond them.
    func rows(
        of query: Query, first count: Int, where isWanted: (Document) -> Bool
    ) throws -> CachedRows {
        precondition(query.limit == nil && query.offset == 0 && query.projection == nil)
        return try read { transaction in
            let written = pending.paths(in: query)
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
                    query, found,
                    views.filter { $0.viewDocument.map { isWanted($0.document) } ?? false })
            }
            return CachedRows(
                documents: found.prefix(count).compactMap(\.viewDocument),
                hasMore: found.count > count, rowsScanned: stats.rowsScanned)
        }
    }

    /// How documents look, and with them those of the query that have pending writes.
    func documents(
        at paths: [DocumentPath], andWrittenIn query: Query
    ) throws -> [DocumentPath: ViewDocument?] {
        let all = paths + pending.paths(in: query)
        let views = try documents(at: all).map { ($0.path, $0.viewDocument) }
        return Dictionary(views) { first, _ in first }
    }
}
