/// The rows of a query and the cost of finding them.
package struct QueryRun: Sendable {
    package let documents: [StoredDocument]
    package let stats: QueryStats
}

package struct QueryStats: Hashable, Sendable {
    /// The plan in a sentence.
    package let plan: String
    /// The number of index entries or documents visited.
    package let rowsScanned: Int
    package let rowsReturned: Int
    /// The number of rows skipped for the query's offset.
    package let rowsSkipped: Int
    /// True if the scan reached its maximum number of rows, so rows are missing.
    package let isCut: Bool
}

package struct QueryCount: Hashable, Sendable {
    package let count: Int64
    /// The number of entries by which an aggregation is billed.
    package let entriesScanned: Int
    /// The number of these entries whose documents were read.
    package let documentsScanned: Int
}
