import TidemarkModel
import TidemarkStore

/// The documents of a collection that contain words, by a word index. Without one, all documents of
/// the collection.
///
/// Documents with pending writes, and those that changed during the read, are among the rows
/// whether they contain the words or not: the index knows no pending writes.
final class WordRead: RowsRead {
    let query: Query
    private let terms: [SearchTerm]
    private let definition: WordIndexDefinition?
    private let local: LocalStore
    private var scan: WordScan?
    private var found: [LocalDocument] = []
    /// The read of all documents, if there is no index.
    private var whole: QueryRead?
    private(set) var rows: [LocalDocument] = []

    /// - Parameter definition: The word index of the query's collections; nil if there is none.
    init(
        _ query: Query, for terms: [SearchTerm], by definition: WordIndexDefinition?,
        in local: LocalStore
    ) {
        self.query = query
        self.terms = terms
        self.definition = definition
        self.local = local
    }

    func step(_ budget: ScanBudget) throws -> Bool {
        if whole == nil, try search(budget) { return true }
        guard let whole, try whole.step(budget) else { return false }
        rows = whole.rows
        return true
    }

    /// - Returns: True if the index has found all documents.
    private func search(_ budget: ScanBudget) throws -> Bool {
        try local.read { transaction in
            let table = transaction.documents(of: local.database)
            if scan == nil {
                found = []
                if let definition { scan = try table.scan(for: terms, in: query, by: definition) }
            }
            guard let scan else {
                whole = QueryRead(query, local)
                return false
            }
            let isAtEnd = try table.step(scan, budget: budget) {
                found.append(LocalDocument(consume $0))
            }
            if scan.isLost { self.scan = nil }
            guard isAtEnd else { return false }
            let others = scan.touched.union(local.queue.pending.paths(in: query))
            if !others.isEmpty { found.removeAll { others.contains($0.path) } }
            rows =
                found
                + (try local.documents.written(others.sorted(), in: query, transaction))
            return true
        }
    }

    /// Describes the finished read.
    var summary: CachedSearch { CachedSearch(query: query, usesIndex: whole == nil) }
}
