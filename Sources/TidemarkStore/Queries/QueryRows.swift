package import TidemarkModel

/// The rows of a query, read one at a time. Valid only inside the transaction that made it.
package final class QueryRows {
    /// True if the rows come in the query's order, which an index or the names give.
    package let isInOrder: Bool
    /// A sentence about the plan.
    package let plan: String

    private let planned: PlannedQuery
    private let plans: QueryPlans
    private let meter = ScanMeter()
    private var stream: (any RowStream)?
    private var returned = 0

    fileprivate init(_ planned: PlannedQuery, of table: DocumentTable) throws(StoreError) {
        self.planned = planned
        plans = QueryPlans(table: table)
        plan = planned.sentence
        isInOrder = !planned.isSorted
        let source = PlannedRows(table: table)
        if isInOrder {
            stream = try source.rows(planned, meter, capacity: .max)
        } else if let path = planned.paths.first {
            stream = try source.tested(path, planned: planned, meter: meter)
        }
    }

    /// Returns the next row; nil at the end.
    package func next() throws(StoreError) -> StoredDocument? {
        guard let stream else { return nil }
        guard let row = try stream.next() else {
            self.stream = nil
            plans.wish(planned, scanned: meter.scanned, useful: returned)
            return nil
        }
        returned += 1
        return row.document
    }
}

extension DocumentTable {
    /// Opens the rows of a query, which are read as they are asked for. The rows are not sorted:
    /// without an index for the query's order, they come in any order.
    ///
    /// - Returns: The rows; nil if they come from several places and would be neither in order nor
    ///   free of duplicates.
    /// - Precondition: The query has neither limit nor offset.
    package func rows(_ query: Query) throws(StoreError) -> QueryRows? {
        precondition(query.limit == nil && query.offset == 0)
        let planned = try QueryPlans(table: self).plan(query)
        if planned.isSorted, planned.paths.count > 1 { return nil }
        return try QueryRows(planned, of: self)
    }
}
