public import TidemarkModel

/// The result of reading a query into the cache.
public struct DownloadedRows: Hashable, Sendable {
    public let count: Int
    /// The time as of which the rows are current at least.
    public let readTime: Timestamp
    /// True if all rows belong to one state of the database. False if a read broke and the server
    /// no longer had the read time of the earlier rows. A document that was moved meanwhile, from
    /// after that position to before it, is then missing.
    public let isOfOneTime: Bool
}
