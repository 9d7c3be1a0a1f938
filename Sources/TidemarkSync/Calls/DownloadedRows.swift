public import TidemarkModel

/// What a query that was read into the cache came to.
public struct DownloadedRows: Hashable, Sendable {
    public let count: Int
    /// As of when the rows are at least.
    public let readTime: Timestamp
    /// Whether they are all of one state of the database. They are not where a read broke and its server
    /// had forgotten the time of the rows before: a document that was moved meanwhile, from behind that
    /// place to before it, is missing then.
    public let isOfOneTime: Bool
}
