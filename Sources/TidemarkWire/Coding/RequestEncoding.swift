import Foundation
import SwiftProtobuf
import TidemarkModel

/// A request as it goes out.
struct EncodedRequest {
    let method: RPCMethod
    let bytes: [UInt8]

    /// - Throws: `INVALID_ARGUMENT` where the protocol has no words for a request, such as a new
    ///   transaction in a method that cannot begin one.
    init(_ request: Request, _ names: Names) throws(RPCStatus) {
        switch request {
        case .getDocument(let get): self.init(.getDocument, try names.wire(get).wireBytes)
        case .listDocuments(let list): self.init(.listDocuments, try names.wire(list).wireBytes)
        case .createDocument(let create):
            self.init(.createDocument, names.wire(create).wireBytes)
        case .updateDocument(let update):
            self.init(.updateDocument, names.wire(update).wireBytes)
        case .deleteDocument(let path, let precondition):
            var wire = PBDeleteDocumentRequest()
            wire.name = names.name(path)
            if let precondition = PBPrecondition(precondition) {
                wire.currentDocument = precondition
            }
            self.init(.deleteDocument, wire.wireBytes)
        case .batchGetDocuments(let get):
            self.init(.batchGetDocuments, names.wire(get).wireBytes)
        case .commit(let commit): self.init(.commit, names.wire(commit).wireBytes)
        case .runQuery(let run): self.init(.runQuery, names.wire(run).wireBytes)
        case .runAggregationQuery(let run):
            self.init(.runAggregationQuery, names.wire(run).wireBytes)
        case .listCollectionIDs(let list):
            self.init(.listCollectionIDs, try names.wire(list).wireBytes)
        case .partitionQuery(let partition):
            self.init(.partitionQuery, try names.wire(partition).wireBytes)
        case .beginTransaction, .rollback, .batchWrite: self.init(short: request, names)
        }
    }

    /// The three that are little more than the database's name.
    private init(short request: Request, _ names: Names) {
        let database = names.database.name
        switch request {
        case .beginTransaction(let options):
            let wire = PBBeginTransactionRequest.with {
                $0.database = database
                $0.options = PBTransactionOptions(options)
            }
            self.init(.beginTransaction, wire.wireBytes)
        case .rollback(let transaction):
            let wire = PBRollbackRequest.with {
                $0.database = database
                $0.transaction = Data(transaction)
            }
            self.init(.rollback, wire.wireBytes)
        case .batchWrite(let batch):
            let wire = PBBatchWriteRequest.with {
                $0.database = database
                $0.writes = batch.mutations.map(names.encode)
            }
            self.init(.batchWrite, wire.wireBytes)
        default: preconditionFailure("encoded by the caller")
        }
    }

    private init(_ method: RPCMethod, _ bytes: [UInt8]) {
        self.method = method
        self.bytes = bytes
    }
}

extension RPCStatus {
    fileprivate static func noConsistency(_ method: RPCMethod) -> RPCStatus {
        .invalidArgument("\(method.rawValue) cannot read in that transaction or at that time.")
    }
}

extension Names {
    fileprivate func wire(_ get: GetDocumentRequest) throws(RPCStatus) -> PBGetDocumentRequest {
        var wire = PBGetDocumentRequest()
        wire.name = name(get.path)
        if let mask = get.mask { wire.mask = PBDocumentMask(mask) }
        switch get.consistency.wire {
        case .latest: break
        case .transaction(let id): wire.transaction = id
        case .readTime(let time): wire.readTime = time
        case .newTransaction: throw .noConsistency(.getDocument)
        }
        return wire
    }

    fileprivate func wire(
        _ list: ListDocumentsRequest
    ) throws(RPCStatus) -> PBListDocumentsRequest {
        var wire = PBListDocumentsRequest()
        wire.parent = name(parent: list.parent)
        wire.collectionID = list.collectionID ?? ""
        wire.pageSize = Int32(clamping: list.pageSize)
        wire.pageToken = list.pageToken
        wire.orderBy = OrderClause.encode(list.orders)
        if let mask = list.mask { wire.mask = PBDocumentMask(mask) }
        wire.showMissing = list.showMissing
        switch list.consistency.wire {
        case .latest: break
        case .transaction(let id): wire.transaction = id
        case .readTime(let time): wire.readTime = time
        case .newTransaction: throw .noConsistency(.listDocuments)
        }
        return wire
    }

    fileprivate func wire(_ create: CreateDocumentRequest) -> PBCreateDocumentRequest {
        var wire = PBCreateDocumentRequest()
        wire.parent = name(parent: create.collection.parent)
        wire.collectionID = create.collection.id
        wire.documentID = create.documentID ?? ""
        // The name of a new document is output only.
        wire.document = Data(EncodedFields(create.fields).bytes)
        if let mask = create.mask { wire.mask = PBDocumentMask(mask) }
        return wire
    }

    fileprivate func wire(_ update: UpdateDocumentRequest) -> PBUpdateDocumentRequest {
        var wire = PBUpdateDocumentRequest()
        wire.document = encode(update.path, update.fields)
        if let mask = update.updateMask { wire.updateMask = PBDocumentMask(mask) }
        if let mask = update.mask { wire.mask = PBDocumentMask(mask) }
        if let precondition = PBPrecondition(update.precondition) {
            wire.currentDocument = precondition
        }
        return wire
    }

    fileprivate func wire(_ get: BatchGetDocumentsRequest) -> PBBatchGetDocumentsRequest {
        var wire = PBBatchGetDocumentsRequest()
        wire.database = database.name
        wire.documents = get.paths.map(name)
        if let mask = get.mask { wire.mask = PBDocumentMask(mask) }
        switch get.consistency.wire {
        case .latest: break
        case .transaction(let id): wire.transaction = id
        case .readTime(let time): wire.readTime = time
        case .newTransaction(let options): wire.newTransaction = options
        }
        return wire
    }

    fileprivate func wire(_ commit: CommitRequest) -> PBCommitRequest {
        var wire = PBCommitRequest()
        wire.database = database.name
        wire.writes = commit.mutations.map(encode)
        wire.transaction = Data(commit.transaction ?? [])
        return wire
    }

    fileprivate func wire(_ run: RunQueryRequest) -> PBRunQueryRequest {
        var wire = PBRunQueryRequest()
        wire.parent = name(parent: run.query.parent)
        wire.structuredQuery = PBStructuredQuery(run.query)
        if let options = run.explain { wire.explainOptions = PBExplainOptions(options) }
        switch run.consistency.wire {
        case .latest: break
        case .transaction(let id): wire.transaction = id
        case .readTime(let time): wire.readTime = time
        case .newTransaction(let options): wire.newTransaction = options
        }
        return wire
    }

    fileprivate func wire(_ run: RunAggregationQueryRequest) -> PBRunAggregationQueryRequest {
        var wire = PBRunAggregationQueryRequest()
        wire.parent = name(parent: run.query.parent)
        wire.structuredAggregationQuery = .with {
            $0.structuredQuery = PBStructuredQuery(run.query)
            $0.aggregations = run.aggregations.map(
                PBStructuredAggregationQuery.Aggregation.init)
        }
        if let options = run.explain { wire.explainOptions = PBExplainOptions(options) }
        switch run.consistency.wire {
        case .latest: break
        case .transaction(let id): wire.transaction = id
        case .readTime(let time): wire.readTime = time
        case .newTransaction(let options): wire.newTransaction = options
        }
        return wire
    }

    fileprivate func wire(
        _ list: ListCollectionIDsRequest
    ) throws(RPCStatus) -> PBListCollectionIdsRequest {
        var wire = PBListCollectionIdsRequest()
        wire.parent = name(parent: list.parent)
        wire.pageSize = Int32(clamping: list.pageSize)
        wire.pageToken = list.pageToken
        switch list.consistency.wire {
        case .latest: break
        case .readTime(let time): wire.readTime = time
        case .transaction, .newTransaction: throw .noConsistency(.listCollectionIDs)
        }
        return wire
    }

    fileprivate func wire(
        _ partition: PartitionQueryRequest
    ) throws(RPCStatus) -> PBPartitionQueryRequest {
        var wire = PBPartitionQueryRequest()
        wire.parent = name(parent: partition.query.parent)
        wire.structuredQuery = PBStructuredQuery(partition.query)
        wire.partitionCount = partition.partitionCount
        wire.pageSize = Int32(clamping: partition.pageSize)
        wire.pageToken = partition.pageToken
        switch partition.consistency.wire {
        case .latest: break
        case .readTime(let time): wire.readTime = time
        case .transaction, .newTransaction: throw .noConsistency(.partitionQuery)
        }
        return wire
    }
}
