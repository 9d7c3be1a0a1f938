/// The rows of a query and what it took to find them.
package struct QueryRun: Sendable {
    package let documents: [StoredDocument]
    package let stats: QueryStats
}

package struct QueryStats: Hashable, Sendable {
    /// In a sentence.
    package let plan: String
    /// Index entries or documents looked at.
    package let rowsScanned: Int
    package let rowsReturned: Int
    /// Passed over for the query's offset.
    package let rowsSkipped: Int
    /// Whether it has looked at as many rows as it might, and rows are missing.
    package let isCut: Bool
}

package struct QueryCount: Hashable, Sendable {
    package let count: Int64
    /// What an aggregation is billed by.
    package let entriesScanned: Int
    /// How many of those were looked at in the documents themselves.
    package let documentsScanned: Int
}
