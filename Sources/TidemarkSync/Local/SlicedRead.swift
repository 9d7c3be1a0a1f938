import TidemarkModel
import TidemarkStore

/// A read of the cache that may take several steps of the engine. Other code may write to the cache
/// between the steps. The final result agrees with the cache at the end of the read.
protocol SlicedRead: AnyObject {
    /// - Returns: True at the end. Then the result is true until the next write.
    func step(_ budget: ScanBudget) throws -> Bool
}

/// A read of documents of one query.
protocol RowsRead: SlicedRead {
    var query: Query { get }
    /// The documents, with pending writes; complete at the end.
    var rows: [LocalDocument] { get }
}

/// The rows of a query, with pending writes merged in.
final class QueryRead: RowsRead {
    let query: Query
    private let local: LocalStore
    /// The label of the read's transactions.
    private let label: StorageStep
    private var scan: RowScan?
    private var found: [LocalDocument] = []
    /// The number of additional rows to look for, because some rows may change. It starts at 0 if
    /// the rows come in the query's order, so the search ends at the last requested row.
    private var spare = 0
    /// The rows in the query's order; complete at the end.
    private(set) var rows: [LocalDocument] = []

    private static let fewSpares = 64

    init(_ query: Query, _ local: LocalStore, _ label: StorageStep = .read) {
        self.query = query
        self.local = local
        self.label = label
    }

    func step(_ budget: ScanBudget) throws -> Bool {
        try local.read(label) { transaction in
            let table = transaction.documents(of: local.database)
            let scan = try self.scan ?? begin(table)
            let isAtEnd = try table.step(scan, budget: budget) {
                found.append(LocalDocument(consume $0))
            }
            if scan.isLost { self.scan = nil }
            guard isAtEnd else { return false }
            return try finish(scan, transaction)
        }
    }

    /// The number of requested rows; nil for all.
    private var wanted: Int? { query.limit.map { $0.count + query.offset } }

    private func begin(_ table: DocumentTable) throws -> RowScan {
        found = []
        var all = query
        all.projection = nil
        all.offset = 0
        let written = local.queue.pending.paths(in: query).count
        if spare == 0, try !table.readsInOrder(all) { spare = Self.fewSpares }
        let capacity = wanted.map { $0 + spare + written } ?? .max
        switch query.limit {
        case .first?: all.limit = .first(capacity)
        case .last?: all.limit = .last(capacity)
        case nil: break
        }
        let scan = try table.scan(all, capacity: capacity)
        self.scan = scan
        return scan
    }

    private func finish(_ scan: RowScan, _ transaction: StoreTransaction) throws -> Bool {
        self.scan = nil
        if case .last? = query.limit { found.reverse() }
        let others = scan.touched.union(local.queue.pending.paths(in: query))
        if !others.isEmpty { found.removeAll { others.contains($0.path) } }
        if let wanted, scan.isCut, found.count < wanted {
            // More rows changed than there were spare rows.
            spare = max(8 * spare, Self.fewSpares)
            return false
        }
        let written = try local.documents.written(others.sorted(), in: query, transaction)
        rows = local.documents.merge(query, rows: found, written: written)
        found = []
        return true
    }
}

/// The figures of one or several queries in one state of the cache, pending writes included.
final class FigureRead: SlicedRead {
    private let queries: [Query]
    private let fields: [FieldPath]
    private let local: LocalStore
    private var scans: [FigureScan?]
    /// The figures, one entry for each query; complete at the end.
    private(set) var figures: [Figures] = []

    /// - Precondition: The queries have neither limits nor offsets.
    init(_ queries: [Query], _ fields: [FieldPath], _ local: LocalStore) {
        self.queries = queries
        self.fields = fields
        self.local = local
        scans = queries.map { _ in nil }
    }

    func step(_ budget: ScanBudget) throws -> Bool {
        try local.read { transaction in
            let table = transaction.documents(of: local.database)
            for index in queries.indices {
                guard try scan(index, table: table, budget: budget) else { return false }
            }
            // All figures are known, and each is current.
            figures = try queries.indices.map { try finish($0, table) }
            return true
        }
    }

    /// - Returns: True if the query's figures are known.
    private func scan(
        _ index: Int, table: DocumentTable, budget: ScanBudget
    ) throws -> Bool {
        if scans[index] == nil {
            if try table.knowsFigures(queries[index], fields) { return true }
            scans[index] = try table.scan(queries[index], for: fields)
        }
        if try table.step(scans[index]!, budget) { return true }
        if scans[index]!.isLost { scans[index] = nil }
        return false
    }

    private func finish(_ index: Int, _ table: DocumentTable) throws -> Figures {
        let query = queries[index]
        var figures: Figures
        var touched: Set<DocumentPath> = []
        if let scan = scans[index] {
            try table.end(scan)
            (figures, touched) = (scan.figures, scan.touched)
        } else {
            figures = try table.knownFigures(query, fields)!
        }
        let prepared = PreparedQuery(query, in: local.database)
        for path in touched.union(local.queue.pending.paths(in: query)) {
            let stored = try table.document(at: path)
            if let stored, !touched.contains(path), LocalDocument(stored).isRow(of: prepared) {
                figures.remove(stored.contents)
            }
            let shown = local.queue.view(of: path, over: stored)
            if shown.isRow(of: prepared) { figures.add(shown.contents) }
        }
        return figures
    }
}

/// The documents of a target.
final class KeysRead: SlicedRead {
    private let target: Int32
    private let local: LocalStore
    private var changes: ChangedDocuments?
    /// The last row that was read. Rows are read in the order of their numbers.
    private var row = Int64.min
    /// The documents; complete at the end.
    private(set) var paths: Set<DocumentPath> = []

    private static let page = 200

    init(_ target: Int32, _ local: LocalStore) {
        self.target = target
        self.local = local
    }

    func step(_ budget: ScanBudget) throws -> Bool {
        try local.read { transaction in
            let changes =
                changes ?? transaction.documents(of: local.database).changes()
            self.changes = changes
            while !budget.isSpent {
                let page = try local.targets.page(
                    of: target, after: row, Self.page, transaction)
                paths.formUnion(page.paths)
                budget.spend(max(page.paths.count, 1))
                if let last = page.last { row = last }
                if !page.isEnd { continue }
                // The target has no listeners during this read, so it can only have lost documents.
                for path in changes.paths where paths.contains(path) {
                    if try !local.targets.hasRow(path, of: target, transaction) {
                        paths.remove(path)
                    }
                }
                return true
            }
            return false
        }
    }
}
