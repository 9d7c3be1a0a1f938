import TidemarkModel

/// Runs queries: hands out their rows in order, offset and limit applied.
struct QueryRunner {
    let table: DocumentTable

    private var plans: QueryPlans { QueryPlans(table: table) }
    private var source: PlannedRows { PlannedRows(table: table) }

    /// The query's rows in its order, offset and limit applied, projection not.
    func run(_ query: Query) throws(StoreError) -> QueryRun {
        var documents: [StoredDocument] = []
        let stats = try run(query) {
            documents.append($0)
            return true
        }
        return QueryRun(documents: documents, stats: stats)
    }

    /// Hands out the query's rows one by one until `body` returns false. Rows come as they are
    /// found, except where they must be sorted first, or where the limit is to the last.
    ///
    /// - Parameters:
    ///   - kept: Of this query, if it is asked again and again; its offset and the number in its limit may be
    ///     others each time.
    ///   - most: How many rows it may look at. Where these are not enough the rest is missing, and
    ///     ``QueryStats/isCut``: a ``RowScan`` finds it.
    func run(
        _ query: Query, _ kept: KeptPlan? = nil, lookingAt most: Int = .max,
        _ body: (consuming StoredDocument) -> Bool
    ) throws(StoreError) -> QueryStats {
        if case .last(let count)? = query.limit {
            return try runLast(query, count, kept, most, body)
        }
        let planned = try plans.plan(query, kept)
        return try run(planned, offset: query.offset, limit: query.limit?.count, most, body)
    }

    /// What ``run(_:)`` would do, in a sentence, without doing it.
    func explain(_ query: Query) throws(StoreError) -> String {
        try plans.plan(query).sentence
    }

    /// Whether ``run(_:_:)`` finds the rows in the query's order: then it goes on from a cursor at the
    /// cost of what follows, where otherwise all rows are sorted first.
    func readsInOrder(_ query: Query) throws(StoreError) -> Bool {
        try !plans.plan(query).isSorted
    }

    private func run(
        _ planned: PlannedQuery, offset: Int, limit: Int?, _ most: Int = .max,
        _ body: (consuming StoredDocument) -> Bool
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

    /// Whether it lists all documents of a collection, and more than `most`, before its first row.
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

    /// The last rows are the first ones backwards, turned round.
    private func runLast(
        _ query: Query, _ count: Int, _ kept: KeptPlan?, _ most: Int,
        _ body: (consuming StoredDocument) -> Bool
    ) throws(StoreError) -> QueryStats {
        if query.offset > 0 { return try runLastAfterOffset(query, count, body) }
        var documents: [StoredDocument] = []
        let stats = try run(try plans.plan(query, kept), offset: 0, limit: count, most) {
            documents.append($0)
            return true
        }
        return hand(out: documents.reversed(), stats, skipped: 0, body)
    }

    /// The offset counts from the front, so the front must be walked.
    private func runLastAfterOffset(
        _ query: Query, _ count: Int, _ body: (consuming StoredDocument) -> Bool
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
