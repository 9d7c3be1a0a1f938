package import TidemarkModel

/// Takes the fields of rows, one row at a time.
package protocol FieldReceiver: AnyObject {
    /// The documents whose rows are not wanted. Must not change during a scan.
    var excluded: Set<DocumentPath> { get }

    /// - Parameter fields: Valid during the call only.
    func take(_ fields: FieldsInPlace)
}

/// A query that is run in slices. Between slices the store may be written. Changed documents are in
/// ``touched``; all other rows are as they are at the end of the scan.
package final class RowScan: DocumentWatch {
    private enum Stage { case gathering, reading, done }

    private let planned: PlannedQuery
    private var parts: [ScanPart]
    private var current = 0
    private let capacity: Int
    private var stage = Stage.gathering
    /// The found rows, sorted in the query's order; nil if they are found in that order.
    private var found: RowsInOrder?
    /// The number of rows passed on.
    private var count = 0
    /// The last row passed on, to skip its duplicates.
    private var lastRow: Int64?

    /// The documents of the query's collections that were written or removed since the scan began.
    package private(set) var touched: Set<DocumentPath> = []
    /// True if there may be more rows than were passed on.
    package private(set) var isCut = false
    /// True if the scan must begin again, because everything read before is invalid.
    package private(set) var isLost = false
    private var scanned = 0

    /// - Parameter capacity: The maximum number of rows wanted.
    private init(
        _ planned: PlannedQuery, _ parts: [ScanPart], capacity: Int, inAnyOrder: Bool
    ) {
        self.planned = planned
        self.parts = parts
        self.capacity = capacity
        // Rows of several paths can occur twice.
        if planned.paths.count > 1 || planned.isSorted && !inAnyOrder {
            found = RowsInOrder(capacity: capacity)
        }
    }

    func willChange(row: Int64, _ connection: Connection) {}

    func changed(_ path: DocumentPath, row: Int64) {
        if planned.query.query.contains(path) { touched.insert(path) }
    }

    func lost() { isLost = true }

    /// Begins a scan for a query's rows.
    ///
    /// - Parameters:
    ///   - inAnyOrder: True if the rows may come in any order, which saves a sort.
    ///   - fieldsOnly: True if only the fields of rows are taken.
    /// - Precondition: The query has no offset. Of its limit, only the side matters.
    static func begin(
        _ query: Query, capacity: Int, inAnyOrder: Bool, fieldsOnly: Bool, _ table: DocumentTable
    ) throws(StoreError) -> RowScan {
        precondition(query.offset == 0)
        let planned = try QueryPlans(table: table).plan(query)
        let isUnordered = inAnyOrder && planned.paths.count == 1
        let parts = try PlannedRows(table: table).parts(
            planned, needsOrder: !planned.isSorted && !isUnordered,
            needsDocuments: isUnordered && !fieldsOnly)
        let scan = RowScan(planned, parts, capacity: capacity, inAnyOrder: inAnyOrder)
        table.connection.watches.add(scan)
        return scan
    }

    /// Continues the scan, and ends it after its last row.
    ///
    /// - Parameter receiver: Takes the fields of rows; nil if `take` takes documents.
    /// - Returns: True if the scan is complete.
    func step(
        _ table: DocumentTable, budget: ScanBudget, fieldsTo receiver: (any FieldReceiver)? = nil,
        take: (consuming StoredDocument) -> Void
    ) throws(StoreError) -> Bool {
        if try !QueryPlans(table: table).stillHas(indexesOf: planned) { lost() }
        if isLost { return false }
        guard try advance(table, budget: budget, receiver, take: take) else { return false }
        end(table)
        return true
    }

    /// - Returns: True if the scan is complete.
    private func advance(
        _ table: DocumentTable, budget: ScanBudget, _ receiver: (any FieldReceiver)?,
        take: (consuming StoredDocument) -> Void
    ) throws(StoreError) -> Bool {
        precondition(!isLost)
        if stage == .gathering { try gather(table, budget: budget, receiver, take: take) }
        if stage == .reading {
            try read(table, budget: budget) { document in
                guard let receiver else { return take(document) }
                if receiver.excluded.contains(document.path) { return }
                document.contents.bytes.withUnsafeBufferPointer {
                    receiver.take(FieldsInPlace(bytes: $0))
                }
            }
        }
        return stage == .done
    }

    private func gather(
        _ table: DocumentTable, budget: ScanBudget, _ receiver: (any FieldReceiver)?,
        take: (consuming StoredDocument) -> Void
    ) throws(StoreError) {
        while current < parts.count {
            var part = parts[current]
            let path = part.path
            var taken = part.taken
            let isAtEnd = try part.read(table, budget) { statement throws(StoreError) in
                self.scanned += 1
                return try self.look(
                    at: statement, taken: &taken, path: path, connection: table.connection
                ) { statement throws(StoreError) in
                    guard let receiver else {
                        return take(try table.connection.row(statement).document)
                    }
                    if !receiver.excluded.isEmpty,
                        receiver.excluded.contains(try table.connection.path(statement))
                    {
                        return
                    }
                    receiver.take(FieldsInPlace(statement.bytes(4)))
                }
            }
            part.taken = taken
            parts[current] = part
            if isAtEnd { current += 1 }
            if budget.isSpent { break }
        }
        guard current == parts.count else { return }
        found?.endGathering()
        stage = found == nil ? .done : .reading
    }

    /// - Returns: True if more rows of the path are wanted.
    private func look(
        at statement: PreparedStatement, taken: inout Int, path: PlannedPath,
        connection: Connection, take: (PreparedStatement) throws(StoreError) -> Void
    ) throws(StoreError) -> Bool {
        if path.isOrdered, taken >= capacity {
            isCut = true
            return false
        }
        if !path.isExact, !(try planned.query.passes(statement, path: path, connection: connection))
        {
            return true
        }
        taken += 1
        if found == nil {
            try take(statement)
            return true
        }
        let (query, fields) = (planned.query, FieldsInPlace(statement.bytes(4)))
        let name = try connection.path(statement)
        try found!.add(statement.integer(0)) { writer throws(StoreError) in
            query.writeOrderKey(name, fields: fields, writer: &writer)
        }
        return true
    }

    private func read(
        _ table: DocumentTable, budget: ScanBudget, take: (consuming StoredDocument) -> Void
    ) throws(StoreError) {
        while count < capacity {
            if budget.isSpent { return }
            guard let row = found!.next() else { break }
            budget.spend()
            if row == lastRow { continue }
            lastRow = row
            // A document that was removed or has changed is in `touched`.
            guard let document = try table.connection.row(id: row)?.document,
                document.kind == .found
            else { continue }
            take(document)
            count += 1
        }
        if found!.isCut || found!.next() != nil { isCut = true }
        stage = .done
    }

    /// Ends the scan, and requests indexes according to its cost.
    private func end(_ table: DocumentTable) {
        table.connection.watches.remove(self)
        let handed = found == nil ? parts.reduce(0) { $0 + $1.taken } : count
        QueryPlans(table: table).wish(planned, scanned: scanned, useful: handed)
    }
}
