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

extension SyncEngine {
    /// Reads a query into the cache; its rows are handed to nobody, and memory holds a part of them.
    ///
    /// - Parameters:
    ///   - deadline: For all of it; nil for as long as rows come.
    ///   - silence: How long none may come; nil for 60 s.
    public func download(
        _ query: Query, deadline: Duration?, silence: Duration? = nil, tag: ReadTag = ReadTag(),
        completion: @escaping @Sendable (Result<DownloadedRows, SyncError>) -> Void
    ) {
        perform { $0.download(query, deadline, silence, tag, completion) }
    }
}
