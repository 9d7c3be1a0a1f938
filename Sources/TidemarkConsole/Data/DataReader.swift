import TidemarkModel
import TidemarkServer

/// Reads a server's data for the console, in process, billed to nobody.
struct DataReader: Sendable {
    let server: FirestoreServer

    /// Rows of one page of a collection or a query.
    static let pageSize = 100
    /// Documents are counted no further than this.
    static let countLimit: Int64 = 10_000
    /// Collections of one parent that are shown.
    static let maxCollections = 300

    func context(_ database: DatabaseID) -> CallContext {
        var context = CallContext(database: database, label: "console")
        context.isUnbilled = true
        return context
    }

    /// The collections directly below `parent`, nil for the root.
    func collections(
        of parent: DocumentPath?, in database: DatabaseID, at time: ReadConsistency
    ) async throws(RPCStatus) -> [CollectionSummary] {
        let request = ListCollectionIDsRequest(
            parent: parent, pageSize: Self.maxCollections, consistency: time)
        let replies = try await server.replies(
            to: .listCollectionIDs(request), context(database))
        guard case .listCollectionIDs(let ids, _)? = replies.first else { return [] }
        var result: [CollectionSummary] = []
        for id in ids {
            let path = (parent.map { $0.text + "/" } ?? "") + id
            let query = Query(parent: parent, collectionID: id)
            let count = try await count(query, in: database, at: time)
            result.append(CollectionSummary(path: path, documents: count))
        }
        return result
    }

    /// At most ``countLimit`` and one.
    private func count(
        _ query: Query, in database: DatabaseID, at time: ReadConsistency
    ) async throws(RPCStatus) -> Int64 {
        let request = RunAggregationQueryRequest(
            query: query,
            aggregations: [Aggregation(alias: "n", .count(upTo: Self.countLimit + 1))],
            consistency: time)
        let replies = try await server.replies(
            to: .runAggregationQuery(request), context(database))
        guard case .runAggregationQuery(let reply)? = replies.first,
            case .integer(let count)? = reply.values?["n"]
        else { return 0 }
        return count
    }

    func document(
        _ path: DocumentPath, in database: DatabaseID, at time: ReadConsistency
    ) async throws(RPCStatus) -> Document? {
        let request = BatchGetDocumentsRequest(paths: [path], consistency: time)
        let replies = try await server.replies(
            to: .batchGetDocuments(request), context(database))
        for case .batchGetDocuments(let result) in replies {
            if case .found(let document)? = result.row { return document }
        }
        return nil
    }

    /// One page of a collection by name, documents that are missing themselves among them.
    func list(
        _ collection: CollectionPath, token: String, in database: DatabaseID,
        at time: ReadConsistency
    ) async throws(RPCStatus) -> (rows: [ListedDocument], next: String) {
        let request = ListDocumentsRequest(
            parent: collection.parent, collectionID: collection.id, pageSize: Self.pageSize,
            pageToken: token, showMissing: true, consistency: time)
        let replies = try await server.replies(to: .listDocuments(request), context(database))
        guard case .listDocuments(let rows, let next)? = replies.first else { return ([], "") }
        return (rows, next)
    }

    /// The first rows of a query, with its plan and what production would bill for it.
    func run(
        _ query: Query, in database: DatabaseID, at time: ReadConsistency
    ) async throws(RPCStatus) -> (documents: [Document], metrics: ExplainMetrics?) {
        var bounded = query
        let limit = query.limit?.count ?? Int.max
        bounded.limit = .first(min(limit, Self.pageSize))
        let request = RunQueryRequest(
            query: bounded, consistency: time, explain: ExplainOptions(analyze: true))
        var documents: [Document] = []
        var metrics: ExplainMetrics?
        for case .runQuery(let reply) in try await server.replies(
            to: .runQuery(request), context(database))
        {
            if let document = reply.document { documents.append(document) }
            metrics = reply.explain ?? metrics
        }
        return (documents, metrics)
    }

    func commit(
        _ mutations: [Mutation], in database: DatabaseID
    ) async throws(RPCStatus) -> CommitReply {
        try await server.commit(mutations, context(database))
    }
}

/// A collection, and how many documents it holds.
struct CollectionSummary: Hashable, Sendable, Codable {
    let path: String
    /// Exact up to ``DataReader/countLimit``; one more means that there are more.
    let documents: Int64
}
