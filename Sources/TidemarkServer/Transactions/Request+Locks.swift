import TidemarkModel

extension Request {
    /// The consistency of a read; nil for a request that is no read, or has no choice.
    var consistency: ReadConsistency? {
        switch self {
        case .getDocument(let request): request.consistency
        case .listDocuments(let request): request.consistency
        case .batchGetDocuments(let request): request.consistency
        case .runQuery(let request): request.consistency
        case .runAggregationQuery(let request): request.consistency
        case .executePipeline(let request): request.readConsistency
        case .listCollectionIDs, .partitionQuery, .createDocument, .updateDocument,
            .deleteDocument, .beginTransaction, .commit, .rollback, .batchWrite:
            nil
        }
    }

    /// Returns the locks of a read in a transaction; nil for a request that is refused before it
    /// reads, or is only explained.
    func lockedReading(in database: DatabaseID) -> LockedReading? {
        switch self {
        case .getDocument(let request): return LockedReading(documents: [request.path])
        case .batchGetDocuments(let request): return LockedReading(documents: request.paths)
        case .runQuery(let request):
            return request.explain?.analyze == false ? nil : Self.lock(request.query, database)
        case .runAggregationQuery(let request):
            return request.explain?.analyze == false ? nil : Self.lock(request.query, database)
        case .executePipeline(let request): return request.lockedReading(in: database)
        case .listDocuments(let request):
            // The documents of the collection are locked. Documents below missing documents are
            // not.
            let query = Query(parent: request.parent, collectionID: request.collectionID)
            return Self.lock(query, database)
        case .listCollectionIDs, .partitionQuery, .createDocument, .updateDocument,
            .deleteDocument, .beginTransaction, .commit, .rollback, .batchWrite:
            return nil
        }
    }

    private static func lock(_ query: Query, _ database: DatabaseID) -> LockedReading? {
        do throws(RPCStatus) { try query.validate() } catch { return nil }
        return LockedReading(query: LockedQuery(query, in: database))
    }
}
