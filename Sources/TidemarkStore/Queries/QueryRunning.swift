package import TidemarkModel

extension DocumentTable {
    /// The query's rows in its order, offset and limit applied, projection not.
    package func run(_ query: Query) throws(StoreError) -> QueryRun {
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
    @discardableResult
    package func run(
        _ query: Query, _ kept: KeptPlan? = nil, lookingAt most: Int = .max,
        _ body: (consuming StoredDocument) -> Bool
    ) throws(StoreError) -> QueryStats {
        if case .last(let count)? = query.limit {
            return try runLast(query, count, kept, most, body)
        }
        let planned = try plan(query, kept)
        return try run(planned, offset: query.offset, limit: query.limit?.count, most, body)
    }

    /// What ``run(_:)`` would do, in a sentence, without doing it.
    package func explain(_ query: Query) throws(StoreError) -> String {
        try plan(query).sentence
    }

    /// Whether ``run(_:_:)`` finds the rows in the query's order: then it goes on from a cursor at the
    /// cost of what follows, where otherwise all rows are sorted first.
    package func readsInOrder(_ query: Query) throws(StoreError) -> Bool {
        try !plan(query).isSorted
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
            let stream = try rows(planned, meter, capacity: overflow ? .max : capacity)
            while let row = try stream.next() {
                if skipped < offset {
                    skipped += 1
                    continue
                }
                returned += 1
                if !body((consume row).document) || returned == limit { break }
            }
        }
        if !meter.isCut { wish(planned, scanned: meter.scanned, useful: returned + skipped) }
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
                if try holds(moreThan: most, in: collection) { return true }
            case .everything:
                let collections = try collections(of: planned)
                if collections.count > most { return true }
                for collection in collections
                where try holds(moreThan: most / max(collections.count, 1), in: collection) {
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
        let stats = try run(try plan(query, kept), offset: 0, limit: count, most) {
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
        let stats = try run(try plan(forwards), offset: query.offset, limit: nil) {
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

// MARK: - Preparing

/// A query with its plan, and the number its database has.
final class PlannedQuery {
    let query: CompiledQuery
    let database: Int64
    /// Those of the plan.
    let paths: [PlannedPath]
    let wishes: [IndexDefinition]
    let sentence: String
    let isSorted: Bool
    /// What it was made from; nil where there was nothing yet.
    let basis: Catalog.Basis?

    init(query: CompiledQuery, database: Int64, plan: QueryPlan, basis: Catalog.Basis?) {
        self.query = query
        self.database = database
        self.basis = basis
        paths = plan.paths.map(PlannedPath.init)
        wishes = plan.wishes
        sentence = plan.sentence
        isSorted = plan.isSorted
    }
}

/// What running an ``AccessPath`` takes. A class of few parts: copies of the path, with all that its index
/// and its collection say of themselves, were a fiftieth of a query for one row.
final class PlannedPath {
    enum Source {
        case point(DocumentPath)
        case entries(index: Int64, scope: Int64)
        case names(collection: Int64)
        case everything
    }

    let source: Source
    let range: KeyRange
    let bounds: HeldRange
    let isReversed: Bool
    let isOrdered: Bool
    let isExact: Bool
    let test: CompiledFilter?
    let neededText: NeededText?

    /// Of those that go by names.
    var isOfWholeCollection: Bool { range == .all }

    init(_ path: AccessPath) {
        source =
            switch path.source {
            case .point(let document): .point(document)
            case .entries(let index, let scope): .entries(index: index.id, scope: scope)
            case .names(let collection): .names(collection: collection.id)
            case .everything: .everything
            }
        range = path.range
        bounds = HeldRange(path.range)
        isReversed = path.isReversed
        isOrdered = path.isOrdered
        isExact = path.isExact
        test = path.test
        neededText = NeededText(path.test)
    }
}

/// The plan of one query, for who asks it again: making one takes as long as reading ten rows. It is made
/// anew when the indexes are others.
package final class KeptPlan {
    fileprivate var planned: PlannedQuery?

    package init() {}
}

extension DocumentTable {
    fileprivate func plan(_ query: Query, _ kept: KeptPlan?) throws(StoreError) -> PlannedQuery {
        if let planned = kept?.planned, let basis = planned.basis,
            connection.catalog.stillHas(basis)
        {
            return planned
        }
        let planned = try plan(query)
        kept?.planned = planned
        return planned
    }

    func plan(_ query: Query) throws(StoreError) -> PlannedQuery {
        let compiled = CompiledQuery(query, in: database)
        let nothing = PlannedQuery(
            query: compiled, database: 0, plan: QueryPlan(paths: []), basis: nil)
        guard let id = try connection.catalog.database(database, connection) else { return nothing }
        var collection: CollectionRow?
        if let path = query.collection {
            collection = try connection.catalog.collection(path, in: id, connection)
            if collection == nil { return nothing }
        }
        var group: CollectionGroup?
        if let groupID = query.collectionID {
            group = try connection.catalog.group(groupID, in: id, connection)
        }
        let planner = Planner(query: compiled, collection: collection, group: group)
        return PlannedQuery(
            query: compiled, database: id, plan: planner.plan(),
            basis: connection.catalog.basis(group))
    }

    /// Wishes for indexes when the query looked at far more than it was for.
    func wish(_ planned: PlannedQuery, scanned: Int, useful: Int) {
        connection.indexing.scanned += scanned
        guard scanned >= 100, scanned > 3 * useful else { return }
        for definition in planned.wishes {
            connection.indexing.wish(
                IndexingState.Wish(database: planned.database, definition: definition))
        }
    }
}

// MARK: - Streams

extension DocumentTable {
    /// - Parameter capacity: How many rows will be asked for at most.
    func rows(
        _ planned: PlannedQuery, _ meter: ScanMeter, capacity: Int
    ) throws(StoreError) -> any RowStream {
        if planned.paths.count == 1, !planned.isSorted {
            return try tested(planned.paths[0], planned, meter)
        }
        var streams: [any RowStream] = []
        for path in planned.paths { streams.append(try tested(path, planned, meter)) }
        if planned.isSorted {
            return SortedStream(streams, planned.query, capacity: capacity, connection)
        }
        return MergeStream(streams, planned.query)
    }

    /// The rows of one path that are rows of the query.
    func tested(
        _ path: PlannedPath, _ planned: PlannedQuery, _ meter: ScanMeter
    ) throws(StoreError) -> any RowStream {
        let stream = try stream(path, planned, meter)
        if path.isExact || stream is RangeStream { return stream }
        return FilteredStream(stream, planned.query, path.test)
    }

    private func stream(
        _ path: PlannedPath, _ planned: PlannedQuery, _ meter: ScanMeter
    ) throws(StoreError) -> any RowStream {
        switch path.source {
        case .point(let document):
            let table = self
            return PointStream(meter) { () throws(StoreError) in try table.row(at: document) }
        case .entries(let index, let scope):
            let statement = try connection.statement(path.isReversed ? .entriesReversed : .entries)
            statement.bind(1, index)
            statement.bind(2, scope)
            statement.bind(3, path.bounds)
            return RangeStream(
                statement, connection, meter,
                test: path.isExact ? nil : (planned.query, path))
        case .names(let collection):
            return try names(collection, path, planned, meter)
        case .everything:
            let table = self
            return ChainStream(try collections(of: planned)) { id throws(StoreError) in
                try table.names(id, path, planned, meter)
            }
        }
    }

    private func names(
        _ collection: Int64, _ path: PlannedPath, _ planned: PlannedQuery, _ meter: ScanMeter
    ) throws(StoreError) -> any RowStream {
        if planned.isSorted, path.isOfWholeCollection, try fillsTable(collection) {
            return try TableStream(
                collection, connection, meter,
                test: path.isExact ? nil : (planned.query, path))
        }
        // Rows that are sorted afterwards are read as they lie in the file, which touches each page once:
        // that halves the time of a scan.
        let inOrder: OwnSQL = path.isReversed ? .namesReversed : .names
        let statement = try connection.statement(planned.isSorted ? .namesAsTheyLie : inOrder)
        statement.bind(1, collection)
        statement.bind(2, path.bounds)
        return RangeStream(
            statement, connection, meter, test: path.isExact ? nil : (planned.query, path))
    }

    /// Those that may hold rows of a query over many.
    func collections(of planned: PlannedQuery) throws(StoreError) -> [Int64] {
        let query = planned.query.query
        var writer = KeyWriter()
        if let parent = query.parent { writer.appendSegments(of: parent.text) }
        let below = KeyRange(prefix: writer.bytes)
        let statement: PreparedStatement
        if let group = query.collectionID {
            statement = try connection.statement(.collectionsOfGroup)
            statement.bind(2, group)
        } else {
            statement = try connection.statement(.collectionsInRange)
            statement.bind(2, below.lower)
            statement.bind(3, below.upper)
        }
        defer { statement.release() }
        statement.bind(1, planned.database)
        var ids: [Int64] = []
        while try statement.step() { ids.append(statement.integer(0)) }
        guard query.parent != nil, query.collectionID != nil else { return ids }
        var result: [Int64] = []
        for id in ids
        where below.contains(try connection.catalog.collection(id: id, connection).key) {
            result.append(id)
        }
        return result
    }
}
