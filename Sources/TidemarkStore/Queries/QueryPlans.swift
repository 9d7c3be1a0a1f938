import TidemarkModel

/// A query with its plan and the number of its database.
final class PlannedQuery {
    let query: CompiledQuery
    let database: Int64
    /// The paths of the plan.
    let paths: [PlannedPath]
    let wishes: [IndexDefinition]
    let sentence: String
    let isSorted: Bool
    /// The basis of the plan; nil if the database had no data yet.
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

/// The parts of an ``AccessPath`` that are needed to run it. A class with few properties: copying
/// the path with the data of its index and collection took a fiftieth of the time of a query for
/// one row.
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

    /// True for a path by names that covers the whole collection.
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

/// A cached plan for a query that runs repeatedly, because planning takes as long as reading ten
/// rows. Planned again when the indexes have changed.
package final class KeptPlan {
    fileprivate var planned: PlannedQuery?

    package init() {}
}

/// Plans queries, and finds the indexes that they would request.
struct QueryPlans {
    let table: DocumentTable

    private var connection: Connection { table.connection }

    func plan(_ query: Query, _ kept: KeptPlan?) throws(StoreError) -> PlannedQuery {
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
        let compiled = CompiledQuery(query, in: table.database)
        let nothing = PlannedQuery(
            query: compiled, database: 0, plan: QueryPlan(paths: []), basis: nil)
        guard let id = try connection.catalog.database(table.database, connection) else {
            return nothing
        }
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

    /// Requests indexes if the query visited far more rows than it needed.
    func wish(_ planned: PlannedQuery, scanned: Int, useful: Int) {
        connection.indexing.scanned += scanned
        guard scanned >= 100, scanned > 3 * useful else { return }
        for definition in planned.wishes {
            connection.indexing.wish(
                IndexingState.Wish(database: planned.database, definition: definition))
        }
    }

    /// Returns true if the indexes that a plan reads still exist.
    func stillHas(indexesOf planned: PlannedQuery) throws(StoreError) -> Bool {
        for path in planned.paths {
            guard case .entries(let index, _) = path.source else { continue }
            let group = try connection.catalog.group(
                planned.query.query.collectionID ?? "", in: planned.database, connection)
            guard group.indexes.contains(where: { $0.id == index && $0.isReady }) else {
                return false
            }
        }
        return true
    }
}
