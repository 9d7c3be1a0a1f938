package import TidemarkModel

/// A search by a word index, run in slices. Between slices the store may be written. Changed
/// documents are in ``touched``; all other rows are as they are at the end of the scan.
package final class WordScan: DocumentWatch {
    private let query: Query
    private let database: Int64
    private let index: Int64
    /// The terms in the language of SQLite's full-text search.
    private let match: String
    private var page: ArraySlice<Int64> = []
    /// The last row of the newest page.
    private var last: Int64 = 0
    private var isLastPage = false

    /// The documents of the query's collections that were written or removed since the scan began.
    package private(set) var touched: Set<DocumentPath> = []
    /// True if the scan must begin again, because everything read before is invalid.
    package private(set) var isLost = false

    /// The number of rows that one look into the index finds at most. A look for the beginning of a
    /// word costs the same for few rows as for many.
    private static let rowsOfPage = 4_096

    private init(query: Query, database: Int64, index: Int64, match: String) {
        (self.query, self.database) = (query, database)
        (self.index, self.match) = (index, match)
    }

    func willChange(row: Int64, _ connection: Connection) {}

    func changed(_ path: DocumentPath, row: Int64) {
        #if TIDEMARK_DEFECTS
            if WordDefect.planted == .searchForgetsChanged { return }
        #endif
        if query.contains(path) { touched.insert(path) }
    }

    func lost() { isLost = true }

    /// Begins a search for documents that contain all terms.
    ///
    /// - Returns: Nil if the word index is not ready.
    static func begin(
        _ terms: [SearchTerm], in query: Query, by definition: WordIndexDefinition,
        _ table: DocumentTable
    ) throws(StoreError) -> WordScan? {
        let connection = table.connection
        guard !terms.isEmpty, let id = query.collectionID,
            let database = try connection.catalog.database(table.database, connection),
            let words = try connection.catalog.group(id, in: database, connection).words,
            words.isReady, words.definition == definition
        else { return nil }
        let marks = try Self.marks(of: query, words: words, database: database, connection)
        let match =
            marks.map { "\"\($0)\"" }
            + terms.map { term in
                "\"\(WordIndex.cut(term.word).text)\"" + (term.isPrefix ? "*" : "")
            }
        let scan = WordScan(
            query: query, database: database, index: words.id,
            match: match.joined(separator: " "))
        connection.watches.add(scan)
        return scan
    }

    /// Returns the words that keep the documents of other collections out. A mark that all
    /// documents have would only cost time.
    private static func marks(
        of query: Query, words: WordIndex, database: Int64, _ connection: Connection
    ) throws(StoreError) -> [String] {
        if let path = query.collection {
            guard let row = try connection.catalog.collection(path, in: database, connection)
            else { return [] }
            let other = try connection.statement(.otherCollectionOfGroup)
            defer { other.release() }
            other.bind(1, database)
            other.bind(2, row.group.id)
            other.bind(3, row.id)
            return try other.step() ? [WordIndex.mark(row)] : []
        }
        let count = try connection.statement(.countWordIndexes)
        defer { count.release() }
        return try count.step() && count.integer(0) > 1 ? [words.mark] : []
    }

    /// Continues the scan.
    ///
    /// - Parameter take: Receives the documents in the order of their rows.
    /// - Returns: True if the scan is complete. A scan that is lost never completes.
    func step(
        _ table: DocumentTable, budget: ScanBudget, take: (consuming StoredDocument) -> Void
    ) throws(StoreError) -> Bool {
        let connection = table.connection
        let words = try connection.catalog.group(
            query.collectionID ?? "", in: database, connection
        ).words
        if words?.id != index || words?.isReady != true { isLost = true }
        if isLost { return false }
        while true {
            if page.isEmpty {
                if isLastPage { break }
                try readPage(connection)
                budget.spend()
            }
            while let row = page.popFirst() {
                budget.spend()
                if let document = try connection.row(id: row)?.document, document.kind == .found,
                    query.contains(document.path)
                {
                    take(document)
                }
                if budget.isSpent { return false }
            }
            if budget.isSpent { return false }
        }
        connection.watches.remove(self)
        return true
    }

    private func readPage(_ connection: Connection) throws(StoreError) {
        let statement = try connection.statement(.rowsWithWords)
        defer { statement.release() }
        statement.bind(1, match)
        statement.bind(2, last)
        statement.bind(3, Self.rowsOfPage)
        var rows: [Int64] = []
        while try statement.step() { rows.append(statement.integer(0)) }
        if let end = rows.last { last = end }
        isLastPage = rows.count < Self.rowsOfPage
        page = rows[...]
    }
}
