import TidemarkModel

/// Provides the rows of a planned query, as streams or in parts that are read one page at a time.
struct PlannedRows {
    let table: DocumentTable

    private var connection: Connection { table.connection }

    /// - Parameter capacity: The maximum number of rows that will be requested.
    func rows(
        _ planned: PlannedQuery, _ meter: ScanMeter, capacity: Int
    ) throws(StoreError) -> any RowStream {
        if planned.paths.count == 1, !planned.isSorted {
            return try tested(planned.paths[0], planned: planned, meter: meter)
        }
        var streams: [any RowStream] = []
        for path in planned.paths {
            streams.append(try tested(path, planned: planned, meter: meter))
        }
        if planned.isSorted {
            return SortedStream(
                streams, query: planned.query, capacity: capacity, connection: connection)
        }
        return MergeStream(streams, planned.query)
    }

    /// Returns the rows of one path that match the query.
    func tested(
        _ path: PlannedPath, planned: PlannedQuery, meter: ScanMeter
    ) throws(StoreError) -> any RowStream {
        let stream = try stream(path, planned: planned, meter: meter)
        if path.isExact || stream is RangeStream { return stream }
        return FilteredStream(stream, query: planned.query, filter: path.test)
    }

    private func stream(
        _ path: PlannedPath, planned: PlannedQuery, meter: ScanMeter
    ) throws(StoreError) -> any RowStream {
        switch path.source {
        case .point(let document):
            let table = table
            return PointStream(meter) { () throws(StoreError) in try table.row(at: document) }
        case .entries(let index, let scope):
            let statement = try connection.statement(path.isReversed ? .entriesReversed : .entries)
            statement.bind(1, index)
            statement.bind(2, scope)
            statement.bind(3, path.bounds)
            return RangeStream(
                statement, connection: connection, meter: meter,
                test: path.isExact ? nil : (planned.query, path))
        case .names(let collection):
            return try names(collection, path: path, planned: planned, meter: meter)
        case .everything:
            let source = self
            return ChainStream(try collections(of: planned)) { id throws(StoreError) in
                try source.names(id, path: path, planned: planned, meter: meter)
            }
        }
    }

    private func names(
        _ collection: Int64, path: PlannedPath, planned: PlannedQuery, meter: ScanMeter
    ) throws(StoreError) -> any RowStream {
        if planned.isSorted, path.isOfWholeCollection, try fillsTable(collection) {
            return try TableStream(
                collection, connection: connection, meter: meter,
                test: path.isExact ? nil : (planned.query, path))
        }
        // Rows that are sorted afterwards are read in file order, which visits each page once and
        // halves the time of a scan.
        let inOrder: OwnSQL = path.isReversed ? .namesReversed : .names
        let statement = try connection.statement(planned.isSorted ? .namesAsTheyLie : inOrder)
        statement.bind(1, collection)
        statement.bind(2, path.bounds)
        return RangeStream(
            statement, connection: connection, meter: meter,
            test: path.isExact ? nil : (planned.query, path))
    }

    /// Returns the collections that may contain rows of a query over several collections.
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

    // MARK: Parts

    /// Returns the paths of a plan as parts that are read one page at a time.
    ///
    /// - Parameters:
    ///   - needsOrder: True if the rows of an ordered path must come in the query's order.
    ///   - needsDocuments: True if a pass over the table must find all columns of the documents.
    func parts(
        _ planned: PlannedQuery, needsOrder: Bool, needsDocuments: Bool = false
    ) throws(StoreError) -> [ScanPart] {
        var parts: [ScanPart] = []
        for path in planned.paths {
            switch path.source {
            case .point(let document): parts.append(ScanPart(.point(document), path))
            case .entries(let index, let scope):
                parts.append(ScanPart(.entries(index: index, scope: scope), path))
            case .names(let collection):
                parts.append(
                    try part(
                        collection, path, isOrdered: needsOrder && path.isOrdered,
                        isWhole: needsDocuments))
            case .everything:
                for collection in try collections(of: planned) {
                    parts.append(
                        try part(collection, path, isOrdered: false, isWhole: needsDocuments))
                }
            }
        }
        return parts
    }

    private func part(
        _ collection: Int64, _ path: PlannedPath, isOrdered: Bool, isWhole: Bool
    ) throws(StoreError) -> ScanPart {
        if !isOrdered, path.isOfWholeCollection, try fillsTable(collection) {
            return ScanPart(.table(collection: collection, isWhole: isWhole), path)
        }
        return ScanPart(.names(collection: collection), path)
    }

    // MARK: How large collections are

    /// The maximum size of a collection that is always read by names.
    private static let fewDocuments = 256
    /// The number of positions in the table that are sampled for their collection.
    private static let places: Int64 = 32

    /// Returns true if at least half of all documents belong to this collection, estimated from a
    /// sample. A pass over the table is then the fastest way to read the collection.
    func fillsTable(_ collection: Int64) throws(StoreError) -> Bool {
        guard try holds(moreThan: Self.fewDocuments, in: collection) else { return false }
        let last = try lastRow()
        guard last > Self.places else { return false }
        let probe = try connection.statement(.collectionAtRow)
        defer { probe.release() }
        var own: Int64 = 0
        for place in 0..<Self.places {
            probe.bind(1, last / Self.places * place)
            if try probe.step(), probe.integer(0) == collection { own += 1 }
            probe.reset()
        }
        return 2 * own >= Self.places
    }

    /// Returns true if a collection has more documents than `count`, including those known to be
    /// missing.
    func holds(moreThan count: Int, in collection: Int64) throws(StoreError) -> Bool {
        let statement = try connection.statement(.nameAtOffset)
        defer { statement.release() }
        statement.bind(1, collection)
        statement.bind(2, count)
        return try statement.step()
    }

    /// Returns the greatest row number; 0 if there are no rows.
    private func lastRow() throws(StoreError) -> Int64 {
        let statement = try connection.statement(.lastRow)
        defer { statement.release() }
        return try statement.step() ? statement.integer(0) : 0
    }
}
