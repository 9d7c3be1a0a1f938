import TidemarkModel

/// Runs queries: passes their rows on in order, with offset and limit.
struct QueryRunner {
    let table: DocumentTable

    private var plans: QueryPlans { QueryPlans(table: table) }
    private var source: PlannedRows { PlannedRows(table: table) }

    /// Returns the query's rows in order, with offset and limit but without projection.
    func run(_ query: Query) throws(StoreError) -> QueryRun {
        var documents: [StoredDocument] = []
        let stats = try run(query) {
            documents.append($0)
            return true
        }
        return QueryRun(documents: documents, stats: stats)
    }

    /// Passes the query's rows to `body` one by one until `body` returns false. Rows are passed as
    /// they are found, unless they must be sorted first or the limit is to the last rows.
    ///
    /// - Parameters:
    ///   - kept: A cached plan, for a query that runs repeatedly. Its offset and the number in its
    ///     limit may differ each time.
    ///   - most: The maximum number of rows to visit. If they are not enough, the result is
    ///     incomplete and ``QueryStats/isCut`` is true; a ``RowScan`` finds the rest.
    func run(
        _ query: Query, kept: KeptPlan? = nil, lookingAt most: Int = .max,
        body: (consuming StoredDocument) -> Bool
    ) throws(StoreError) -> QueryStats {
        if case .last(let count)? = query.limit {
            return try runLast(query, count: count, kept: kept, most: most, body: body)
        }
        let planned = try plans.plan(query, kept)
        return try run(
            planned, offset: query.offset, limit: query.limit?.count, most: most, body: body)
    }

    /// Returns a sentence about what ``run(_:)`` would do, without running it.
    func explain(_ query: Query) throws(StoreError) -> String {
        try plans.plan(query).sentence
    }

    /// Returns true if ``run(_:_:)`` finds the rows in the query's order. Then, continuing from a
    /// cursor costs only the rows after it; otherwise all rows are sorted first.
    func readsInOrder(_ query: Query) throws(StoreError) -> Bool {
        try !plans.plan(query).isSorted
    }

    private func run(
        _ planned: PlannedQuery, offset: Int, limit: Int?, most: Int = .max,
        body: (consuming StoredDocument) -> Bool
    ) throws(StoreError) -> QueryStats {
        let meter = ScanMeter(limit: most)
        var returned = 0
        var skipped = 0
        if most < .max, try isLong(planned, most) {
            meter.cut()
        } else if limit != 0 {
            let (capacity, overflow) = offset.addingReportingOverflow(limit ?? .max)
            let stream = try source.rows(planned, meter, capacity: overflow ? .max : capacity)
            while let row = try stream.next() {
                if skipped < offset {
                    skipped += 1
                    continue
                }
                returned += 1
                if !body((consume row).document) || returned == limit { break }
            }
        }
        if !meter.isCut { plans.wish(planned, scanned: meter.scanned, useful: returned + skipped) }
        return QueryStats(
            plan: planned.sentence, rowsScanned: meter.scanned, rowsReturned: returned,
            rowsSkipped: skipped, isCut: meter.isCut)
    }

    /// Returns true if the query lists all documents of a collection with more than `most`
    /// documents before its first row.
    private func isLong(_ planned: PlannedQuery, _ most: Int) throws(StoreError) -> Bool {
        guard planned.isSorted else { return false }
        for path in planned.paths {
            switch path.source {
            case .point, .entries: break
            case .names(let collection):
                if try source.holds(moreThan: most, in: collection) { return true }
            case .everything:
                let collections = try source.collections(of: planned)
                if collections.count > most { return true }
                for collection in collections
                where try source.holds(moreThan: most / max(collections.count, 1), in: collection) {
                    return true
                }
            }
        }
        return false
    }

    /// Runs the query in the reversed order, and reverses the rows found.
    private func runLast(
        _ query: Query, count: Int, kept: KeptPlan?, most: Int,
        body: (consuming StoredDocument) -> Bool
    ) throws(StoreError) -> QueryStats {
        if query.offset > 0 { return try runLastAfterOffset(query, count: count, body: body) }
        var documents: [StoredDocument] = []
        let stats = try run(try plans.plan(query, kept), offset: 0, limit: count, most: most) {
            documents.append($0)
            return true
        }
        return hand(out: documents.reversed(), stats, skipped: 0, body)
    }

    /// Runs a query whose offset counts from the front, so the rows are read from the front.
    private func runLastAfterOffset(
        _ query: Query, count: Int, body: (consuming StoredDocument) -> Bool
    ) throws(StoreError) -> QueryStats {
        var forwards = query
        forwards.limit = nil
        var window: [StoredDocument] = []
        let stats = try run(try plans.plan(forwards), offset: query.offset, limit: nil) {
            window.append($0)
            if window.count >= 2 * max(count, 32) { window.removeFirst(window.count - count) }
            return true
        }
        return hand(out: window.suffix(count), stats, skipped: stats.rowsSkipped, body)
    }

    private func hand(
        out documents: some Sequence<StoredDocument>, _ stats: QueryStats, skipped: Int,
        _ body: (consuming StoredDocument) -> Bool
    ) -> QueryStats {
        var returned = 0
        for document in documents {
            returned += 1
            if !body(document) { break }
        }
        return QueryStats(
            plan: stats.plan, rowsScanned: stats.rowsScanned, rowsReturned: returned,
            rowsSkipped: skipped, isCut: stats.isCut)
    }
}
