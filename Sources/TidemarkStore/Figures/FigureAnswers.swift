import TidemarkModel

/// Computes the figures of a query's rows from the figures of blocks, without a scan.
struct KnownFigures {
    let table: DocumentTable

    private var connection: Connection { table.connection }
    private var plans: QueryPlans { QueryPlans(table: table) }

    /// Returns true if ``figures(of:_:)`` returns a result.
    func knows(_ query: Query, _ fields: [FieldPath]) throws(StoreError) -> Bool {
        let planned = try plans.plan(query)
        guard !planned.paths.isEmpty else { return true }
        return planned.rangeOfBlocks.map { source, range in
            connection.figures.find(source, fields) != nil
                || connection.figures.found(source, range: range, fields: fields) != nil
        } ?? false
    }

    /// Returns the figures of a query's rows if they are one range of an index with block figures,
    /// by reading only the two ends of the range. Returns nil if a scan is needed.
    /// ends; or where a scan has found them of the same range. Nil where a scan has to find them.
    ///
    /// - Precondition: The query has neither limit nor offset.
    func figures(
        of query: Query, _ fields: [FieldPath]
    ) throws(StoreError) -> Figures? {
        precondition(query.offset == 0 && query.limit == nil)
        let planned = try plans.plan(query)
        if planned.paths.isEmpty { return Figures(of: fields) }
        guard let (source, range) = planned.rangeOfBlocks else { return nil }
        guard let blocks = connection.figures.find(source, fields) else {
            return connection.figures.found(source, range: range, fields: fields)
        }
        var (figures, rest) = blocks.figures(of: range)
        for part in rest { try add(part, of: source, to: &figures) }
        return figures
    }

    /// Adds the rows of a range one by one. The range has less than two blocks.
    private func add(
        _ range: KeyRange, of source: FigureBlocks.Source, to figures: inout Figures
    ) throws(StoreError) {
        let statement: PreparedStatement
        let isCount = figures.fields.isEmpty
        switch source {
        case .entries(let index, let scope):
            statement = try connection.statement(isCount ? .countEntries : .entries)
            statement.bind(1, index)
            statement.bind(2, scope)
            statement.bind(3, range.lower)
            statement.bind(4, range.upper)
            if isCount { statement.bind(5, Int64.max) }
        case .names(let collection):
            statement = try connection.statement(isCount ? .countNames : .names)
            statement.bind(1, collection)
            statement.bind(2, range.lower)
            statement.bind(3, range.upper)
            if isCount { statement.bind(4, Int64.max) }
        }
        defer { statement.release() }
        while try statement.step() {
            if isCount {
                figures.addRows(statement.integer(0))
            } else {
                figures.add(FieldsInPlace(statement.bytes(4)))
            }
        }
    }
}

extension PlannedQuery {
    /// The one range of an index, or of a collection's names, that the query's rows are.
    var rangeOfBlocks: (source: FigureBlocks.Source, KeyRange)? {
        guard paths.count == 1, paths[0].isExact else { return nil }
        switch paths[0].source {
        case .entries(let index, let scope):
            return (.entries(index: index, scope: scope), paths[0].range)
        case .names(let collection): return (.names(collection: collection), paths[0].range)
        case .point, .everything: return nil
        }
    }
}

/// Fills the blocks that queries requested with the stored documents.
struct FigureFiller {
    let connection: Connection

    /// Continues filling requested blocks. Called when all indexes are built.
    ///
    /// - Returns: True if there is more work.
    func fill(_ budget: ScanBudget) throws(StoreError) -> Bool {
        while !budget.isSpent {
            if let blocks = connection.figures.unfinished {
                if try !fill(blocks, budget) { connection.figures.drop(blocks) }
                continue
            }
            guard let wish = connection.figures.takeWish() else { return false }
            let table = DocumentTable(
                database: wish.database, transaction: StoreTransaction(connection: connection))
            // Some queries are not a single range of any index.
            if let (source, _) = try QueryPlans(table: table).plan(wish.query).rangeOfBlocks {
                connection.figures.make(source, wish.fields)
            }
            budget.spend()
        }
        return connection.figures.isWanted
    }

    /// - Returns: False if the index no longer exists.
    private func fill(_ blocks: FigureBlocks, _ budget: ScanBudget) throws(StoreError) -> Bool {
        let through = blocks.through ?? []
        let lower = through.isEmpty ? [] : through + [0]
        let statement: PreparedStatement
        let key: Int32
        switch blocks.source {
        case .entries(let index, let scope):
            guard try hasIndex(index) else { return false }
            let isCount = blocks.fields.isEmpty
            statement = try connection.statement(isCount ? .entryKeys : .entryPage)
            statement.bind(1, index)
            statement.bind(2, scope)
            statement.bind(3, lower)
            statement.bind(4, Cut.top)
            key = isCount ? 1 : 9
        case .names(let collection):
            statement = try connection.statement(.names)
            statement.bind(1, collection)
            statement.bind(2, lower)
            statement.bind(3, Cut.top)
            key = 2
        }
        defer { statement.release() }
        while try statement.step() {
            blocks.append(
                statement.bytes(key),
                blocks.fields.isEmpty ? nil : FieldsInPlace(statement.bytes(4)))
            budget.spend()
            guard budget.isSpent else { continue }
            blocks.haveFilled(through: statement.blob(key))
            return true
        }
        blocks.haveFilledAll()
        connection.figures.haveFilled(blocks)
        return true
    }

    private func hasIndex(_ index: Int64) throws(StoreError) -> Bool {
        let statement = try connection.statement(.indexFields)
        defer { statement.release() }
        statement.bind(1, index)
        return try statement.step()
    }
}
