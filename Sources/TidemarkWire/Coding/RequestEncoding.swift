import Foundation
import SwiftProtobuf
import TidemarkModel

/// An encoded request.
struct EncodedRequest {
    let method: RPCMethod
    let bytes: [UInt8]

    /// - Throws: `INVALID_ARGUMENT` if the protocol cannot express the request, for example a new
    ///   transaction in a method that cannot begin one.
    init(_ request: Request, _ names: Names) throws(RPCStatus) {
        let coder = RequestCoder(names: names)
        switch request {
        case .getDocument(let get): self.init(.getDocument, try coder.wire(get).wireBytes)
        case .listDocuments(let list): self.init(.listDocuments, try coder.wire(list).wireBytes)
        case .createDocument(let create):
            self.init(.createDocument, coder.wire(create).wireBytes)
        case .updateDocument(let update):
            self.init(.updateDocument, coder.wire(update).wireBytes)
        case .deleteDocument(let path, let precondition):
            var wire = PBDeleteDocumentRequest()
            wire.name = names.name(path)
            if let precondition = PBPrecondition(precondition) {
                wire.currentDocument = precondition
            }
            self.init(.deleteDocument, wire.wireBytes)
        case .batchGetDocuments(let get):
            self.init(.batchGetDocuments, coder.wire(get).wireBytes)
        case .commit(let commit): self.init(.commit, coder.wire(commit).wireBytes)
        case .runQuery(let run): self.init(.runQuery, coder.wire(run).wireBytes)
        case .runAggregationQuery(let run):
            self.init(.runAggregationQuery, coder.wire(run).wireBytes)
        case .listCollectionIDs(let list):
            self.init(.listCollectionIDs, try coder.wire(list).wireBytes)
        case .executePipeline(let run):
            self.init(.executePipeline, run.bytes(in: names.database))
        case .partitionQuery(let partition):
            self.init(.partitionQuery, try coder.wire(partition).wireBytes)
        case .beginTransaction, .rollback, .batchWrite: self.init(short: request, names)
        }
    }

    /// Encodes the three requests that hold little more than the database's name.
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
                $0.writes = batch.mutations.map(WriteCoder(names).encode)
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

// MARK: - The moment of a read

/// A message that can read at a given time.
private protocol ReadsAtTime {
    var readTime: Google_Protobuf_Timestamp { get set }
}
/// A message that can also read in a transaction.
private protocol ReadsInTransaction: ReadsAtTime {
    var transaction: Data { get set }
}
/// A message that can also begin the transaction in which it reads.
private protocol BeginsTransaction: ReadsInTransaction {
    var newTransaction: PBTransactionOptions { get set }
}

extension PBListCollectionIdsRequest: ReadsAtTime {}
extension PBPartitionQueryRequest: ReadsAtTime {}
extension PBGetDocumentRequest: ReadsInTransaction {}
extension PBListDocumentsRequest: ReadsInTransaction {}
extension PBBatchGetDocumentsRequest: BeginsTransaction {}
extension PBRunQueryRequest: BeginsTransaction {}
extension PBRunAggregationQueryRequest: BeginsTransaction {}

extension ReadsAtTime {
    /// - Throws: `INVALID_ARGUMENT` for a transaction.
    mutating func set(_ consistency: WireConsistency, of method: RPCMethod) throws(RPCStatus) {
        switch consistency {
        case .latest: break
        case .readTime(let time): readTime = time
        case .transaction, .newTransaction: throw .noConsistency(method)
        }
    }
}

extension ReadsInTransaction {
    /// - Throws: `INVALID_ARGUMENT` for a new transaction.
    mutating func set(_ consistency: WireConsistency, of method: RPCMethod) throws(RPCStatus) {
        switch consistency {
        case .latest: break
        case .readTime(let time): readTime = time
        case .transaction(let id): transaction = id
        case .newTransaction: throw .noConsistency(method)
        }
    }
}

extension BeginsTransaction {
    mutating func set(_ consistency: WireConsistency) {
        switch consistency {
        case .latest: break
        case .readTime(let time): readTime = time
        case .transaction(let id): transaction = id
        case .newTransaction(let options): newTransaction = options
        }
    }
}

/// Makes the protocol's message for each kind of request.
private struct RequestCoder {
    let names: Names

    func wire(_ get: GetDocumentRequest) throws(RPCStatus) -> PBGetDocumentRequest {
        var wire = PBGetDocumentRequest()
        wire.name = names.name(get.path)
        if let mask = get.mask { wire.mask = PBDocumentMask(mask) }
        try wire.set(get.consistency.wire, of: .getDocument)
        return wire
    }

    func wire(
        _ list: ListDocumentsRequest
    ) throws(RPCStatus) -> PBListDocumentsRequest {
        var wire = PBListDocumentsRequest()
        wire.parent = names.name(parent: list.parent)
        wire.collectionID = list.collectionID ?? ""
        wire.pageSize = Int32(clamping: list.pageSize)
        wire.pageToken = list.pageToken
        wire.orderBy = OrderClause.encode(list.orders)
        if let mask = list.mask { wire.mask = PBDocumentMask(mask) }
        wire.showMissing = list.showMissing
        try wire.set(list.consistency.wire, of: .listDocuments)
        return wire
    }

    func wire(_ create: CreateDocumentRequest) -> PBCreateDocumentRequest {
        var wire = PBCreateDocumentRequest()
        wire.parent = names.name(parent: create.collection.parent)
        wire.collectionID = create.collection.id
        wire.documentID = create.documentID ?? ""
        // The protocol defines the name of a new document as output only.
        wire.document = Data(EncodedFields(create.fields).bytes)
        if let mask = create.mask { wire.mask = PBDocumentMask(mask) }
        return wire
    }

    func wire(_ update: UpdateDocumentRequest) -> PBUpdateDocumentRequest {
        var wire = PBUpdateDocumentRequest()
        wire.document = names.encode(update.path, update.fields)
        if let mask = update.updateMask { wire.updateMask = PBDocumentMask(mask) }
        if let mask = update.mask { wire.mask = PBDocumentMask(mask) }
        if let precondition = PBPrecondition(update.precondition) {
            wire.currentDocument = precondition
        }
        return wire
    }

    func wire(_ get: BatchGetDocumentsRequest) -> PBBatchGetDocumentsRequest {
        var wire = PBBatchGetDocumentsRequest()
        wire.database = names.database.name
        wire.documents = get.paths.map(names.name)
        if let mask = get.mask { wire.mask = PBDocumentMask(mask) }
        wire.set(get.consistency.wire)
        return wire
    }

    func wire(_ commit: CommitRequest) -> PBCommitRequest {
        var wire = PBCommitRequest()
        wire.database = names.database.name
        wire.writes = commit.mutations.map(WriteCoder(names).encode)
        wire.transaction = Data(commit.transaction ?? [])
        return wire
    }

    func wire(_ run: RunQueryRequest) -> PBRunQueryRequest {
        var wire = PBRunQueryRequest()
        wire.parent = names.name(parent: run.query.parent)
        wire.structuredQuery = PBStructuredQuery(run.query)
        if let options = run.explain { wire.explainOptions = PBExplainOptions(options) }
        wire.set(run.consistency.wire)
        return wire
    }

    func wire(_ run: RunAggregationQueryRequest) -> PBRunAggregationQueryRequest {
        var wire = PBRunAggregationQueryRequest()
        wire.parent = names.name(parent: run.query.parent)
        wire.structuredAggregationQuery = .with {
            $0.structuredQuery = PBStructuredQuery(run.query)
            $0.aggregations = run.aggregations.map(
                PBStructuredAggregationQuery.Aggregation.init)
        }
        if let options = run.explain { wire.explainOptions = PBExplainOptions(options) }
        wire.set(run.consistency.wire)
        return wire
    }

    func wire(
        _ list: ListCollectionIDsRequest
    ) throws(RPCStatus) -> PBListCollectionIdsRequest {
        var wire = PBListCollectionIdsRequest()
        wire.parent = names.name(parent: list.parent)
        wire.pageSize = Int32(clamping: list.pageSize)
        wire.pageToken = list.pageToken
        try wire.set(list.consistency.wire, of: .listCollectionIDs)
        return wire
    }

    func wire(
        _ partition: PartitionQueryRequest
    ) throws(RPCStatus) -> PBPartitionQueryRequest {
        var wire = PBPartitionQueryRequest()
        wire.parent = names.name(parent: partition.query.parent)
        wire.structuredQuery = PBStructuredQuery(partition.query)
        wire.partitionCount = partition.partitionCount
        wire.pageSize = Int32(clamping: partition.pageSize)
        wire.pageToken = partition.pageToken
        try wire.set(partition.consistency.wire, of: .partitionQuery)
        return wire
    }
}
