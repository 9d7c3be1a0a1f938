import Foundation
import SwiftProtobuf
import TidemarkModel

/// A received request with the database that it names.
struct DecodedRequest {
    let database: DatabaseID
    let request: Request

    /// - Throws: `INVALID_ARGUMENT`, or `UNIMPLEMENTED` for requests that the model does not
    ///   support; never `INTERNAL`, which clients would retry.
    init(_ method: RPCMethod, _ bytes: [UInt8]) throws(RPCStatus) {
        try RequestParts.check(method, bytes)
        let parsed: (DatabaseID, Request) =
            switch method {
            case .getDocument: try PBGetDocumentRequest(wire: bytes).decoded()
            case .listDocuments: try PBListDocumentsRequest(wire: bytes).decoded()
            case .createDocument: try PBCreateDocumentRequest(wire: bytes).decoded()
            case .updateDocument: try PBUpdateDocumentRequest(wire: bytes).decoded()
            case .deleteDocument: try PBDeleteDocumentRequest(wire: bytes).decoded()
            case .batchGetDocuments: try PBBatchGetDocumentsRequest(wire: bytes).decoded()
            case .beginTransaction: try PBBeginTransactionRequest(wire: bytes).decoded()
            case .commit: try PBCommitRequest(wire: bytes).decoded()
            case .rollback: try PBRollbackRequest(wire: bytes).decoded()
            case .runQuery: try PBRunQueryRequest(wire: bytes).decoded()
            case .runAggregationQuery: try PBRunAggregationQueryRequest(wire: bytes).decoded()
            case .partitionQuery: try PBPartitionQueryRequest(wire: bytes).decoded()
            case .listCollectionIDs: try PBListCollectionIdsRequest(wire: bytes).decoded()
            case .batchWrite: try PBBatchWriteRequest(wire: bytes).decoded()
            case .executePipeline:
                try ExecutePipelineRequest.parsed(bytes)
            case .listen, .write: preconditionFailure("a stream's messages are read one by one")
            }
        (database, request) = parsed
    }
}

private typealias Parsed = (DatabaseID, Request)

extension ExecutePipelineRequest {
    fileprivate static func parsed(_ bytes: [UInt8]) throws(RPCStatus) -> Parsed {
        let (database, request) = try decode(bytes)
        return (database, .executePipeline(request))
    }
}

extension PBGetDocumentRequest {
    fileprivate func decoded() throws(RPCStatus) -> Parsed {
        let names = Names(try Names.database(of: name))
        let consistency: WireConsistency =
            switch consistencySelector {
            case nil: .latest
            case .transaction(let id): .transaction(id)
            case .readTime(let time): .readTime(time)
            }
        let get = GetDocumentRequest(
            path: try names.document(name), mask: hasMask ? try mask.paths() : nil,
            consistency: try consistency.decoded())
        return (names.database, .getDocument(get))
    }
}

extension PBListDocumentsRequest {
    fileprivate func decoded() throws(RPCStatus) -> Parsed {
        let names = Names(try Names.database(of: parent, .parent))
        if pageSize < 0 { throw .invalidArgument("Page size must be nonnegative.") }
        if !collectionID.isEmpty { try DocumentPath.checkCollectionID(collectionID) }
        let consistency: WireConsistency =
            switch consistencySelector {
            case nil: .latest
            case .transaction(let id): .transaction(id)
            case .readTime(let time): .readTime(time)
            }
        let list = ListDocumentsRequest(
            parent: try names.parent(parent),
            collectionID: collectionID.isEmpty ? nil : collectionID,
            pageSize: Int(pageSize), pageToken: pageToken,
            orders: try OrderClause.decode(orderBy), mask: hasMask ? try mask.paths() : nil,
            showMissing: showMissing, consistency: try consistency.decoded())
        return (names.database, .listDocuments(list))
    }
}

extension PBCreateDocumentRequest {
    fileprivate func decoded() throws(RPCStatus) -> Parsed {
        let names = Names(try Names.database(of: parent, .parent))
        try DocumentPath.checkCollectionID(collectionID)
        let prefix = try names.parent(parent).map { $0.text + "/" } ?? ""
        let id = documentID.isEmpty ? nil : documentID
        let collection = try naming { () throws(InvalidPath) in
            try CollectionPath(prefix + collectionID)
        }
        if let id {
            if id.utf8.contains(UInt8(ascii: "/")) { throw RPCStatus(InvalidPath.slash(in: id)) }
            _ = try naming { () throws(InvalidPath) in try collection.document(id) }
        }
        let create = CreateDocumentRequest(
            collection: collection, documentID: id,
            fields: try Names.decodeFields(document).fields,
            mask: hasMask ? try mask.paths() : nil)
        return (names.database, .createDocument(create))
    }
}

extension PBUpdateDocumentRequest {
    fileprivate func decoded() throws(RPCStatus) -> Parsed {
        let (name, fields) = try Names.decodeFields(document)
        let names = Names(try Names.database(of: name))
        let update = UpdateDocumentRequest(
            path: try names.document(name), fields: fields,
            updateMask: hasUpdateMask ? try updateMask.paths() : nil,
            mask: hasMask ? try mask.paths() : nil,
            precondition: try currentDocument.decoded())
        return (names.database, .updateDocument(update))
    }
}

extension PBDeleteDocumentRequest {
    fileprivate func decoded() throws(RPCStatus) -> Parsed {
        let names = Names(try Names.database(of: name))
        return (
            names.database,
            .deleteDocument(try names.document(name), try currentDocument.decoded())
        )
    }
}

extension PBBatchGetDocumentsRequest {
    fileprivate func decoded() throws(RPCStatus) -> Parsed {
        let names = Names(try Names.database(database))
        var paths: [DocumentPath] = []
        paths.reserveCapacity(documents.count)
        for name in documents { paths.append(try names.document(name)) }
        let get = BatchGetDocumentsRequest(
            paths: paths, mask: hasMask ? try mask.paths() : nil,
            consistency: try consistency.decoded())
        return (names.database, .batchGetDocuments(get))
    }
}

extension PBBeginTransactionRequest {
    fileprivate func decoded() throws(RPCStatus) -> Parsed {
        (try Names.database(database), .beginTransaction(try options.decoded()))
    }
}

extension PBCommitRequest {
    fileprivate func decoded() throws(RPCStatus) -> Parsed {
        let names = Names(try Names.database(database))
        let commit = CommitRequest(
            mutations: try WriteCoder(names).mutations(writes),
            transaction: transaction.nonEmptyArray)
        return (names.database, .commit(commit))
    }
}

extension PBRollbackRequest {
    fileprivate func decoded() throws(RPCStatus) -> Parsed {
        (try Names.database(database), .rollback(transaction.array))
    }
}

extension PBBatchWriteRequest {
    fileprivate func decoded() throws(RPCStatus) -> Parsed {
        let names = Names(try Names.database(database))
        return (
            names.database,
            .batchWrite(BatchWriteRequest(mutations: try WriteCoder(names).mutations(writes)))
        )
    }
}

extension PBRunQueryRequest {
    fileprivate func decoded() throws(RPCStatus) -> Parsed {
        let names = Names(try Names.database(of: parent, .parent))
        guard case .structuredQuery(let query)? = queryType else {
            throw .invalidArgument("only structured queries are supported")
        }
        let run = RunQueryRequest(
            query: try Query(parent: parent, query, names),
            consistency: try consistency.decoded(),
            explain: hasExplainOptions ? explainOptions.decoded : nil)
        return (names.database, .runQuery(run))
    }
}

extension PBRunAggregationQueryRequest {
    fileprivate func decoded() throws(RPCStatus) -> Parsed {
        let names = Names(try Names.database(of: parent, .parent))
        guard case .structuredAggregationQuery(let wire)? = queryType else {
            throw .invalidArgument("Only structured aggregation queries are supported.")
        }
        var aggregations: [Aggregation] = []
        for aggregation in wire.aggregations { aggregations.append(try aggregation.decoded()) }
        // A missing query counts every document under the parent, like an empty query.
        let run = RunAggregationQueryRequest(
            query: try Query(parent: parent, wire.structuredQuery, names),
            aggregations: aggregations, consistency: try consistency.decoded(),
            explain: hasExplainOptions ? explainOptions.decoded : nil)
        return (names.database, .runAggregationQuery(run))
    }
}

extension PBPartitionQueryRequest {
    fileprivate func decoded() throws(RPCStatus) -> Parsed {
        let names = Names(try Names.database(of: parent, .parent))
        guard case .structuredQuery(let query)? = queryType else {
            throw .invalidArgument("Query is required.")
        }
        if pageSize < 0 { throw .invalidArgument("Page size must be nonnegative.") }
        let consistency: WireConsistency =
            if case .readTime(let time)? = consistencySelector { .readTime(time) } else { .latest }
        let partition = PartitionQueryRequest(
            query: try Query(parent: parent, query, names), partitionCount: partitionCount,
            pageSize: Int(pageSize), pageToken: pageToken, consistency: try consistency.decoded())
        return (names.database, .partitionQuery(partition))
    }
}

extension PBListCollectionIdsRequest {
    fileprivate func decoded() throws(RPCStatus) -> Parsed {
        let names = Names(try Names.database(of: parent, .parent))
        if pageSize < 0 {
            throw .invalidArgument("page_size must be greater than or equal to zero.")
        }
        let consistency: WireConsistency =
            if case .readTime(let time)? = consistencySelector { .readTime(time) } else { .latest }
        let list = ListCollectionIDsRequest(
            parent: try names.parent(parent), pageSize: Int(pageSize), pageToken: pageToken,
            consistency: try consistency.decoded())
        return (names.database, .listCollectionIDs(list))
    }
}

/// The read time of a request. Three requests have this choice, each with its own generated type.
private protocol ConsistencyChoice: Equatable {
    static func transaction(_ id: Data) -> Self
    static func newTransaction(_ options: PBTransactionOptions) -> Self
    static func readTime(_ time: Google_Protobuf_Timestamp) -> Self
}

private protocol ConsistentRead {
    associatedtype Choice: ConsistencyChoice
    var consistencySelector: Choice? { get }
    var transaction: Data { get }
    var newTransaction: PBTransactionOptions { get }
    var readTime: Google_Protobuf_Timestamp { get }
}

extension ConsistentRead {
    fileprivate var consistency: WireConsistency {
        guard let choice = consistencySelector else { return .latest }
        if choice == .transaction(transaction) { return .transaction(transaction) }
        if choice == .newTransaction(newTransaction) { return .newTransaction(newTransaction) }
        return .readTime(readTime)
    }
}

extension PBBatchGetDocumentsRequest.OneOf_ConsistencySelector: ConsistencyChoice {}
extension PBRunQueryRequest.OneOf_ConsistencySelector: ConsistencyChoice {}
extension PBRunAggregationQueryRequest.OneOf_ConsistencySelector: ConsistencyChoice {}
extension PBBatchGetDocumentsRequest: ConsistentRead {}
extension PBRunQueryRequest: ConsistentRead {}
extension PBRunAggregationQueryRequest: ConsistentRead {}
