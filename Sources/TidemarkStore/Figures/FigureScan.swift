package import TidemarkModel

/// A scan, in slices, for the figures of a query's rows. A document that changes during the scan is
/// removed from the figures and added to ``touched``; the caller adds its final state at the end.
package final class FigureScan: DocumentWatch {
    private let planned: PlannedQuery
    private var parts: [ScanPart]
    private var current = 0
    /// The counted rows, to count each row once and to remove rows again.
    private var counted = RowSet()
    /// The rows that the caller adds at the end.
    private var left = RowSet()

    package private(set) var figures: Figures
    /// The documents of the query's collections that were written or removed since the scan began.
    package private(set) var touched: Set<DocumentPath> = []
    /// True if the scan must begin again.
    package private(set) var isLost = false
    private var scanned = 0

    private init(_ planned: PlannedQuery, parts: [ScanPart], fields: [FieldPath]) {
        self.planned = planned
        self.parts = parts
        figures = Figures(of: fields)
    }

    func willChange(row: Int64, _ connection: Connection) throws(StoreError) {
        guard counted.remove(row) else { return }
        let statement = try connection.statement(.documentFields)
        defer { statement.release() }
        statement.bind(1, row)
        if try statement.step() { figures.remove(FieldsInPlace(statement.bytes(0))) }
    }

    func changed(_ path: DocumentPath, row: Int64) {
        guard planned.query.query.contains(path) else { return }
        touched.insert(path)
        _ = left.insert(row)
    }

    func lost() { isLost = true }

    /// Begins a scan for the figures of all rows of a query. Call ``end(_:)`` when it is no longer
    /// needed.
    ///
    /// - Precondition: The query has neither limit nor offset.
    static func begin(
        _ query: Query, fields: [FieldPath], table: DocumentTable
    ) throws(StoreError) -> FigureScan {
        precondition(query.offset == 0 && query.limit == nil)
        let planned = try QueryPlans(table: table).plan(query)
        let parts = try PlannedRows(table: table).parts(planned, needsOrder: false)
        let scan = FigureScan(planned, parts: parts, fields: fields)
        table.connection.watches.add(scan)
        return scan
    }

    /// - Returns: True if the scan is complete.
    func step(_ table: DocumentTable, _ budget: ScanBudget) throws(StoreError) -> Bool {
        if try !QueryPlans(table: table).stillHas(indexesOf: planned) { lost() }
        if isLost { return false }
        return try advance(table, budget)
    }

    private func advance(
        _ table: DocumentTable, _ budget: ScanBudget
    ) throws(StoreError) -> Bool {
        while current < parts.count {
            var part = parts[current]
            let path = part.path
            let keysOnly = part.isAnsweredByIndex && figures.fields.isEmpty
            let isAtEnd = try part.read(table, budget, keysOnly: keysOnly) {
                statement throws(StoreError) in
                self.scanned += 1
                if keysOnly {
                    self.count(statement.integer(0))
                    return true
                }
                if !path.isExact,
                    !(try self.planned.query.passes(
                        statement, path: path, connection: table.connection))
                {
                    return true
                }
                self.count(statement.integer(0), FieldsInPlace(statement.bytes(4)))
                return true
            }
            parts[current] = part
            if isAtEnd { current += 1 }
            if budget.isSpent { break }
        }
        return current == parts.count
    }

    private func count(_ row: Int64, _ fields: FieldsInPlace? = nil) {
        if !touched.isEmpty, left.contains(row) { return }
        guard counted.insert(row) else { return }
        if let fields { figures.add(fields) } else { figures.addRows(1) }
    }

    /// - Precondition: It is at its end, in a transaction in which nothing was written since.
    func end(_ table: DocumentTable) throws(StoreError) {
        table.connection.watches.remove(self)
        QueryPlans(table: table).wish(planned, scanned: scanned, useful: 0)
        guard scanned >= Self.many else { return }
        try keep(table)
        table.connection.figures.wish(
            FigureWish(
                database: table.database, query: planned.query.query, fields: figures.fields))
    }

    /// Keeps the figures if they are of one range, because callers often ask for them again.
    private func keep(_ table: DocumentTable) throws(StoreError) {
        guard let (source, range) = planned.rangeOfBlocks else { return }
        var all = figures
        let query = PreparedQuery(planned.query.query, in: table.database)
        for path in touched {
            guard let document = try table.document(at: path), document.kind == .found,
                query.matches(path, among: document.contents)
            else { continue }
            all.add(document.contents)
        }
        table.connection.figures.keep(RangeFigures(source, range: range, figures: all))
    }

    /// The number of rows from which block figures are worthwhile for the next time.
    private static let many = 500
}
