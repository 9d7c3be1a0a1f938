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

    /// How many rows each query has, pending writes counted in.
    func counts(of queries: [Query]) throws -> [Int] {
        try read { transaction in
            let table = transaction.documents(of: database)
            return try queries.map { try count($0, in: table) }
        }
    }

    private func count(_ query: Query, in table: DocumentTable) throws -> Int {
        precondition(query.limit == nil && query.offset == 0)
        var count = Int(try table.count(query).count)
        for path in pending.paths(in: query) {
            let stored = try table.document(at: path)
            if let stored, isRow(LocalDocument(stored), of: query) { count -= 1 }
            if isRow(pending.view(of: path, over: stored), of: query) { count += 1 }
        }
        return count
    }

    private func isRow(_ document: LocalDocument, of query: Query) -> Bool {
        document.isFound && query.matches(document.path, document.contents.decoded, in: database)
    }
}
