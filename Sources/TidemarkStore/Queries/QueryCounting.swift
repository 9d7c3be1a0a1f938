import TidemarkModel

/// Counts the rows of queries.
struct QueryCounter {
    let table: DocumentTable

    private var connection: Connection { table.connection }
    private var plans: QueryPlans { QueryPlans(table: table) }

    /// Counts the query's rows, at most up to `upTo`. If an index proves the filter, its entries
    /// are counted and no document is read.
    func count(_ query: Query, upTo: Int64?) throws(StoreError) -> QueryCount {
        let limit = min(upTo ?? .max, query.limit.map { Int64($0.count) } ?? .max)
        if limit <= 0 { return QueryCount(count: 0, entriesScanned: 0, documentsScanned: 0) }
        let (sum, overflow) = limit.addingReportingOverflow(Int64(query.offset))
        var unlimited = query
        unlimited.limit = nil
        let planned = try plans.plan(unlimited)
        let rows = try countRows(planned, upTo: overflow ? .max : sum)
        plans.wish(planned, scanned: rows.scanned, useful: rows.count)
        let count = max(0, Int64(rows.count) - Int64(query.offset))
        return QueryCount(
            count: min(count, limit), entriesScanned: rows.scanned,
            documentsScanned: rows.documents)
    }

    private func countRows(
        _ planned: PlannedQuery, upTo limit: Int64
    ) throws(StoreError) -> (count: Int, scanned: Int, documents: Int) {
        let paths = planned.paths
        if paths.count == 1, paths[0].isExact, let count = try countRange(paths[0], upTo: limit) {
            return (count, count, 0)
        }
        let meter = ScanMeter()
        var documents = 0
        var seen: Set<Int64> = []
        var count = 0
        for path in paths {
            let before = meter.scanned
            let stream = try counted(path, planned: planned, meter: meter)
            while count < limit, let id = try stream() {
                if paths.count > 1, !seen.insert(id).inserted { continue }
                count += 1
            }
            if !path.isCountedByEntries { documents += meter.scanned - before }
        }
        return (count, meter.scanned, documents)
    }

    /// Counts a range within SQLite; nil if the source is not a single range.
    private func countRange(_ path: PlannedPath, upTo limit: Int64) throws(StoreError) -> Int? {
        let statement: PreparedStatement
        switch path.source {
        case .entries(let index, let scope):
            statement = try connection.statement(.countEntries)
            statement.bind(1, index)
            statement.bind(2, scope)
            statement.bind(3, path.bounds)
            statement.bind(5, limit)
        case .names(let collection):
            statement = try connection.statement(.countNames)
            statement.bind(1, collection)
            statement.bind(2, path.bounds)
            statement.bind(4, limit)
        case .point, .everything: return nil
        }
        defer { statement.release() }
        return try statement.step() ? Int(statement.integer(0)) : nil
    }

    /// Returns the row numbers of one path. Documents are read only if each must be tested.
    private func counted(
        _ path: PlannedPath, planned: PlannedQuery, meter: ScanMeter
    ) throws(StoreError) -> () throws(StoreError) -> Int64? {
        if path.isCountedByEntries, case .entries(let index, let scope) = path.source {
            let statement = Loan(try connection.statement(.entryIDs))
            statement.statement.bind(1, index)
            statement.statement.bind(2, scope)
            statement.statement.bind(3, path.bounds)
            return { () throws(StoreError) in
                guard try statement.statement.step() else { return nil }
                meter.scanned += 1
                return statement.statement.integer(0)
            }
        }
        let stream = try PlannedRows(table: table).tested(path, planned: planned, meter: meter)
        return { () throws(StoreError) in try stream.next()?.id }
    }
}

extension PlannedPath {
    /// True if the index alone decides which rows count.
    fileprivate var isCountedByEntries: Bool {
        if case .entries = source { isExact } else { false }
    }
}

/// Releases a statement when its last user is done.
private final class Loan {
    let statement: PreparedStatement
    init(_ statement: PreparedStatement) { self.statement = statement }
    deinit { statement.release() }
}
