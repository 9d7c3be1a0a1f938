import Tidemark

/// A listener of a planned pipeline, as the server has it.
struct PlannedTarget: Sendable {
    let source: ListenedSource
    /// The rows that an earlier listener left on the device; nil if there was none.
    var held: ListenedResults.Rows?
    /// The documents of the result, in the query's order if it has a limit; nil while closed.
    private(set) var rows: [DocumentPath]?

    private let query: PreparedQuery
    private let limit: Int?

    init(_ source: ListenedSource, in database: DatabaseID, held: ListenedResults.Rows?) {
        self.source = source
        self.held = held
        query = PreparedQuery(source.query, in: database)
        limit = source.query.limit?.count
    }

    var isLimited: Bool { limit != nil }
    var database: DatabaseID { query.database }

    func matches(_ path: DocumentPath, _ fields: MapValue) -> Bool {
        query.matches(path, fields)
    }

    /// Returns the result among documents.
    func result(in documents: [DocumentPath: MapValue]) -> [DocumentPath] {
        var found: [(path: DocumentPath, fields: MapValue)] = []
        for (path, fields) in documents where query.matches(path, fields) {
            found.append((path, fields))
        }
        guard let limit else { return found.map(\.path) }
        found.sort { query.compare($0, $1) == .ascending }
        return found.prefix(limit).map(\.path)
    }

    // MARK: Its life

    mutating func open(_ rows: [DocumentPath]) { self.rows = rows }

    /// Ends the listener. The device keeps its rows, with which the next one resumes.
    mutating func close(heardAt time: Timestamp) {
        guard let rows else { return }
        held = ListenedResults.Rows(heardAt: time, paths: rows)
        self.rows = nil
    }

    /// Returns the result after a commit; nil if no row is concerned, so the listener receives
    /// nothing.
    ///
    /// - Parameter paths: The documents that were written or deleted.
    func rows(
        after paths: Set<DocumentPath>, in documents: [DocumentPath: MapValue]
    ) -> [DocumentPath]? {
        guard let rows else { return nil }
        let old = Set(rows)
        func isRow(_ path: DocumentPath) -> Bool {
            documents[path].map { query.matches(path, $0) } ?? false
        }
        guard paths.contains(where: { old.contains($0) || isRow($0) }) else { return nil }
        if isLimited {
            let result = result(in: documents)
            return result == rows && paths.isDisjoint(with: rows) ? nil : result
        }
        return rows.filter { !paths.contains($0) } + paths.filter(isRow).sorted()
    }

    /// Returns the documents of the device that match and are not in the server's result, as far
    /// as the client shows them: a full limit hides documents behind its last row.
    func unconfirmed(
        on device: [DocumentPath: MapValue], server: [DocumentPath: MapValue]
    ) -> [DocumentPath] {
        guard let rows, source.document == nil else { return [] }
        let confirmed = Set(rows)
        var last: (path: DocumentPath, fields: MapValue)?
        if let limit, rows.count == limit, let path = rows.last, let fields = server[path] {
            last = (path, fields)
        }
        return device.compactMap { path, fields in
            guard !confirmed.contains(path), query.matches(path, fields) else { return nil }
            if let last, query.compare((path, fields), last) == .descending { return nil }
            return path
        }.sorted()
    }

    // MARK: Its bill

    /// Returns the bill of the result as a whole.
    ///
    /// - Parameters:
    ///   - documents: The documents of the result.
    ///   - all: All documents on the server.
    ///   - isIndexed: False if no index serves conditions or an order.
    func firstBill(
        _ documents: [ExpectedSourceDocument],
        among all: some Collection<ExpectedSourceDocument>, isIndexed: Bool
    ) -> PlannedBill {
        if source.document != nil { return .document(bytes: documents.first?.bytes ?? 0) }
        var bill = PlannedBill(reads: max(1, documents.count))
        if query.query.hasSeveralRangeFields { bill.reads += (documents.count + 999) / 1_000 }
        if !needsIndex {
            bill.units.read = Self.scan(documents)
        } else if isIndexed {
            bill.units = PlannedBill.query(documents.map(\.row)).units
        } else {
            bill.units.read = Self.scan(scanned(all))
        }
        return bill
    }

    /// True if an index must serve the query: documents in the order of their names need none.
    private var needsIndex: Bool {
        let without = IndexCatalog().withoutAutomaticIndexes
        return !IndexRequirement(query.query.wireForm, in: without).missing.isEmpty
    }

    private static func scan(_ documents: some Collection<ExpectedSourceDocument>) -> Int {
        UnitBilling.scan(
            bytes: documents.reduce(0) { $0 + max(UnitBilling.leastScannedBytes, $1.bytes) })
    }

    /// Returns the documents that a scan of the query's collections reads: in the order of names,
    /// it ends with the last row.
    private func scanned(
        _ all: some Collection<ExpectedSourceDocument>
    ) -> [ExpectedSourceDocument] {
        let there = all.filter { query.query.contains($0.path) }.sorted { $0.path < $1.path }
        guard let limit, let order = query.orders.first, order.field.isDocumentID,
            order.direction == .ascending
        else { return there }
        var found = 0
        return Array(
            there.prefix { document in
                if found >= limit { return false }
                if query.matches(document.path, document.fields) { found += 1 }
                return true
            })
    }
}
