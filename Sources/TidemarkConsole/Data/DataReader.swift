import TidemarkModel
import TidemarkServer

/// Reads a server's data for the console, in the process, without a bill.
struct DataReader: Sendable {
    let server: FirestoreServer

    /// The maximum number of rows on a page of a collection or a query.
    static let pageSize = 100
    /// The limit up to which documents are counted.
    static let countLimit: Int64 = 10_000
    /// The maximum number of shown collections of a parent.
    static let maxCollections = 300

    func context(_ database: DatabaseID) -> CallContext {
        var context = CallContext(database: database, label: "console")
        context.isUnbilled = true
        return context
    }

    /// Returns the collections directly below `parent`, nil for the root.
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
            let query = ModelQuery(parent: parent, collectionID: id)
            let count = try await count(query, in: database, at: time)
            result.append(CollectionSummary(path: path, documents: count))
        }
        return result
    }

    /// - Parameter limit: The count stops at this number plus one.
    func count(
        _ query: ModelQuery, in database: DatabaseID, at time: ReadConsistency,
        upTo limit: Int64 = countLimit
    ) async throws(RPCStatus) -> Int64 {
        let request = RunAggregationQueryRequest(
            query: query,
            aggregations: [Aggregation(alias: "n", .count(upTo: limit + 1))],
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

    /// Returns a page of a collection by name, including missing documents with documents below
    /// them.
    func list(
        _ collection: CollectionPath, token: String, in database: DatabaseID,
        at time: ReadConsistency
    ) async throws(RPCStatus) -> (rows: [ListedDocument], next: String) {
        var request = ListDocumentsRequest(
            parent: collection.parent, collectionID: collection.id, pageSize: Self.pageSize,
            pageToken: token, showMissing: true, consistency: time)
        // A page can also be requested by the id before it.
        if token.hasPrefix("after:") { request.start(after: String(token.dropFirst(6))) }
        let replies = try await server.replies(to: .listDocuments(request), context(database))
        guard case .listDocuments(let rows, let next)? = replies.first else { return ([], "") }
        return (rows, next)
    }

    /// Returns the id of the document `places` after another; nil if there are fewer documents.
    /// Costs the index entries between them.
    func id(
        _ places: Int, after id: String?, _ collection: CollectionPath, in database: DatabaseID,
        at time: ReadConsistency
    ) async throws(RPCStatus) -> String? {
        var query = ModelQuery(collection: collection)
        query.orders = [Order(.documentID)]
        if let id {
            guard let path = try? collection.document(id) else { return nil }
            let name = Value.reference(ReferenceValue(database: database, path: path))
            query.start = Cursor(values: [name], before: false)
        }
        query.offset = places - 1
        query.limit = .first(1)
        query.projection = [.documentID]
        return try await documents(of: query, in: database, at: time).first?.path.id
    }

    func documents(
        of query: ModelQuery, in database: DatabaseID, at time: ReadConsistency
    ) async throws(RPCStatus) -> [Document] {
        try await server.documents(of: query, at: time, context(database)).documents
    }

    /// Returns the first rows of a query, with its plan and production's bill.
    func run(
        _ query: ModelQuery, in database: DatabaseID, at time: ReadConsistency
    ) async throws(RPCStatus) -> (documents: [Document], metrics: ExplainMetrics?) {
        var bounded = query
        if bounded.findNearest == nil {
            bounded.limit = .first(min(query.limit?.count ?? Int.max, Self.pageSize))
        }
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

    func aggregate(
        _ aggregations: [Aggregation], of query: ModelQuery, in database: DatabaseID,
        at time: ReadConsistency
    ) async throws(RPCStatus) -> AggregationReply? {
        let request = RunAggregationQueryRequest(
            query: query, aggregations: aggregations, consistency: time,
            explain: ExplainOptions(analyze: true))
        let replies = try await server.replies(
            to: .runAggregationQuery(request), context(database))
        guard case .runAggregationQuery(let reply)? = replies.first else { return nil }
        return reply
    }

    func commit(
        _ mutations: [Mutation], in database: DatabaseID
    ) async throws(RPCStatus) -> CommitReply {
        try await server.commit(mutations, context(database))
    }
}

/// A collection, and the number of its documents.
struct CollectionSummary: Hashable, Sendable, Codable {
    let path: String
    /// The exact number up to ``DataReader/countLimit``; a number above means that there are more.
    let documents: Int64
}
