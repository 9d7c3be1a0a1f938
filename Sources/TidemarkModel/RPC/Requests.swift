/// A call of `google.firestore.v1.Firestore`, except the two streams.
public enum Request: Hashable, Sendable {
    case getDocument(GetDocumentRequest)
    case listDocuments(ListDocumentsRequest)
    case createDocument(CreateDocumentRequest)
    case updateDocument(UpdateDocumentRequest)
    case deleteDocument(DocumentPath, Precondition)
    case batchGetDocuments(BatchGetDocumentsRequest)
    case beginTransaction(TransactionOptions)
    case commit(CommitRequest)
    case rollback(TransactionID)
    case runQuery(RunQueryRequest)
    case runAggregationQuery(RunAggregationQueryRequest)
    case listCollectionIDs(ListCollectionIDsRequest)
    case batchWrite(BatchWriteRequest)
    case partitionQuery(PartitionQueryRequest)
    case executePipeline(ExecutePipelineRequest)
}

extension Request {
    /// True if the request reads only one document and so costs the server little time.
    package var isShortRead: Bool {
        if case .getDocument = self { true } else { false }
    }
}

/// A reply to the ``Request`` with the same case name. Streaming calls send several replies, each
/// with a part of the answer.
public enum Reply: Hashable, Sendable {
    case document(Document)
    case listDocuments([ListedDocument], nextPageToken: String)
    case empty
    case batchGetDocuments(BatchGetResult)
    case beginTransaction(TransactionID)
    case commit(CommitReply)
    case runQuery(RunQueryReply)
    case runAggregationQuery(AggregationReply)
    case listCollectionIDs([String], nextPageToken: String)
    case batchWrite([BatchWriteResult])
    case partitionQuery([Cursor], nextPageToken: String)
    case executePipeline(ExecutePipelineReply)
}

public typealias TransactionID = [UInt8]

public enum TransactionOptions: Hashable, Sendable {
    case readWrite(retrying: TransactionID?, concurrency: ConcurrencyMode = .standard)
    case readOnly(at: Timestamp?)

    public enum ConcurrencyMode: Hashable, Sendable {
        /// The database's default: pessimistic.
        case standard
        /// Takes no locks. The commit fails if any document that the transaction read has changed.
        case optimistic
        /// Reads take shared locks until the transaction ends.
        case pessimistic
    }
}

/// The time or the transaction of a read.
public enum ReadConsistency: Hashable, Sendable {
    case latest
    case at(Timestamp)
    case transaction(TransactionID)
    case newTransaction(TransactionOptions)
}

public struct GetDocumentRequest: Hashable, Sendable {
    public var path: DocumentPath
    /// The fields to return; nil for all fields.
    public var mask: [FieldPath]?
    public var consistency: ReadConsistency

    public init(
        path: DocumentPath, mask: [FieldPath]? = nil, consistency: ReadConsistency = .latest
    ) {
        self.path = path
        self.mask = mask
        self.consistency = consistency
    }
}

public struct ListDocumentsRequest: Hashable, Sendable {
    /// The parent document; nil for the root.
    public var parent: DocumentPath?
    /// The collection; nil for every collection directly under `parent`.
    public var collectionID: String?
    /// The maximum number of rows; 0 for the server's default.
    public var pageSize: Int
    public var pageToken: String
    public var orders: [Order]
    public var mask: [FieldPath]?
    /// If true, includes missing documents that have documents below them.
    public var showMissing: Bool
    public var consistency: ReadConsistency

    public init(
        parent: DocumentPath? = nil, collectionID: String?, pageSize: Int = 0,
        pageToken: String = "", orders: [Order] = [], mask: [FieldPath]? = nil,
        showMissing: Bool = false, consistency: ReadConsistency = .latest
    ) {
        self.parent = parent
        self.collectionID = collectionID
        self.pageSize = pageSize
        self.pageToken = pageToken
        self.orders = orders
        self.mask = mask
        self.showMissing = showMissing
        self.consistency = consistency
    }
}

/// A row of a list. A missing document has only a path.
public struct ListedDocument: Hashable, Sendable {
    public var path: DocumentPath
    public var document: Document?

    public init(path: DocumentPath, document: Document?) {
        self.path = path
        self.document = document
    }
}

public struct CreateDocumentRequest: Hashable, Sendable {
    public var collection: CollectionPath
    /// The id of the new document; nil if the server chooses it.
    public var documentID: String?
    public var fields: MapValue
    public var mask: [FieldPath]?

    public init(
        collection: CollectionPath, documentID: String?, fields: MapValue, mask: [FieldPath]? = nil
    ) {
        self.collection = collection
        self.documentID = documentID
        self.fields = fields
        self.mask = mask
    }
}

public struct UpdateDocumentRequest: Hashable, Sendable {
    public var path: DocumentPath
    public var fields: MapValue
    /// The fields to update; nil to replace the document.
    public var updateMask: [FieldPath]?
    public var mask: [FieldPath]?
    public var precondition: Precondition

    public init(
        path: DocumentPath, fields: MapValue, updateMask: [FieldPath]? = nil,
        mask: [FieldPath]? = nil, precondition: Precondition = .none
    ) {
        self.path = path
        self.fields = fields
        self.updateMask = updateMask
        self.mask = mask
        self.precondition = precondition
    }
}

public struct BatchGetDocumentsRequest: Hashable, Sendable {
    public var paths: [DocumentPath]
    public var mask: [FieldPath]?
    public var consistency: ReadConsistency

    public init(
        paths: [DocumentPath], mask: [FieldPath]? = nil, consistency: ReadConsistency = .latest
    ) {
        self.paths = paths
        self.mask = mask
        self.consistency = consistency
    }
}

public struct BatchGetResult: Hashable, Sendable {
    public enum Row: Hashable, Sendable {
        case found(Document)
        case missing(DocumentPath)
    }

    /// The document or its absence; nil in a reply that only carries the id of a new transaction.
    public var row: Row?
    public var transaction: TransactionID?
    public var readTime: Timestamp

    public init(row: Row?, transaction: TransactionID? = nil, readTime: Timestamp) {
        self.row = row
        self.transaction = transaction
        self.readTime = readTime
    }
}

public struct CommitRequest: Hashable, Sendable {
    public var mutations: [Mutation]
    public var transaction: TransactionID?

    public init(mutations: [Mutation], transaction: TransactionID? = nil) {
        self.mutations = mutations
        self.transaction = transaction
    }
}

public struct CommitReply: Hashable, Sendable {
    /// The result of each mutation, in order.
    public var results: [MutationResult]
    public var commitTime: Timestamp

    public init(results: [MutationResult], commitTime: Timestamp) {
        self.results = results
        self.commitTime = commitTime
    }
}

public struct RunQueryRequest: Hashable, Sendable {
    public var query: Query
    public var consistency: ReadConsistency
    public var explain: ExplainOptions?

    public init(
        query: Query, consistency: ReadConsistency = .latest, explain: ExplainOptions? = nil
    ) {
        self.query = query
        self.consistency = consistency
        self.explain = explain
    }
}

/// A part of a query's answer. An answer without documents consists of one reply with a read time
/// only.
public struct RunQueryReply: Hashable, Sendable {
    public var document: Document?
    public var transaction: TransactionID?
    public var readTime: Timestamp?
    /// The number of rows skipped for the offset. Nonzero only in a separate reply before the
    /// documents.
    public var skippedResults: Int
    /// The explain report, only in the last reply of an explained query.
    public var explain: ExplainMetrics?

    public init(
        document: Document? = nil, transaction: TransactionID? = nil, readTime: Timestamp? = nil,
        skippedResults: Int = 0, explain: ExplainMetrics? = nil
    ) {
        self.document = document
        self.transaction = transaction
        self.readTime = readTime
        self.skippedResults = skippedResults
        self.explain = explain
    }
}

public struct RunAggregationQueryRequest: Hashable, Sendable {
    public var query: Query
    public var aggregations: [Aggregation]
    public var consistency: ReadConsistency
    public var explain: ExplainOptions?

    public init(
        query: Query, aggregations: [Aggregation], consistency: ReadConsistency = .latest,
        explain: ExplainOptions? = nil
    ) {
        self.query = query
        self.aggregations = aggregations
        self.consistency = consistency
        self.explain = explain
    }
}

public struct AggregationReply: Hashable, Sendable {
    /// The results by alias; nil if the query was only planned.
    public var values: MapValue?
    public var transaction: TransactionID?
    public var readTime: Timestamp
    public var explain: ExplainMetrics?

    public init(
        values: MapValue?, transaction: TransactionID? = nil, readTime: Timestamp,
        explain: ExplainMetrics? = nil
    ) {
        self.values = values
        self.transaction = transaction
        self.readTime = readTime
        self.explain = explain
    }
}

public struct ListCollectionIDsRequest: Hashable, Sendable {
    /// The parent document; nil for the root.
    public var parent: DocumentPath?
    public var pageSize: Int
    public var pageToken: String
    public var consistency: ReadConsistency

    public init(
        parent: DocumentPath? = nil, pageSize: Int = 0, pageToken: String = "",
        consistency: ReadConsistency = .latest
    ) {
        self.parent = parent
        self.pageSize = pageSize
        self.pageToken = pageToken
        self.consistency = consistency
    }
}

public struct BatchWriteRequest: Hashable, Sendable {
    public var mutations: [Mutation]

    public init(mutations: [Mutation]) { self.mutations = mutations }
}

/// The result of one mutation of a batch write. `result` is valid only if `status` is ok.
public struct BatchWriteResult: Hashable, Sendable {
    public var status: RPCStatus
    public var result: MutationResult

    public init(status: RPCStatus, result: MutationResult) {
        self.status = status
        self.result = result
    }
}

public struct PartitionQueryRequest: Hashable, Sendable {
    public var query: Query
    public var partitionCount: Int64
    public var pageSize: Int
    public var pageToken: String
    public var consistency: ReadConsistency

    public init(
        query: Query, partitionCount: Int64, pageSize: Int = 0, pageToken: String = "",
        consistency: ReadConsistency = .latest
    ) {
        self.query = query
        self.partitionCount = partitionCount
        self.pageSize = pageSize
        self.pageToken = pageToken
        self.consistency = consistency
    }
}
