/// A call of `google.firestore.v1.Firestore`, the two streams aside.
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
}

extension Request {
    /// Whether it reads one document, and so takes a server little time, whatever else that holds.
    package var isShortRead: Bool {
        if case .getDocument = self { true } else { false }
    }
}

/// An answer to a ``Request``, of the case of the same name. Those of streaming calls come several
/// times, each with a part of the whole.
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
}

public typealias TransactionID = [UInt8]

public enum TransactionOptions: Hashable, Sendable {
    case readWrite(retrying: TransactionID?, concurrency: ConcurrencyMode = .standard)
    case readOnly(at: Timestamp?)

    public enum ConcurrencyMode: Hashable, Sendable {
        /// The database's own: pessimistic.
        case standard
        /// Takes no locks; the commit fails when anything it has read has changed.
        case optimistic
        /// Reads take shared locks until the transaction ends.
        case pessimistic
    }
}

/// As of when, or inside which transaction, a read is made.
public enum ReadConsistency: Hashable, Sendable {
    case latest
    case at(Timestamp)
    case transaction(TransactionID)
    case newTransaction(TransactionOptions)
}

public struct GetDocumentRequest: Hashable, Sendable {
    public var path: DocumentPath
    /// The fields to return; nil for all.
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
    /// Nil for the root.
    public var parent: DocumentPath?
    /// Nil for every collection directly under `parent`.
    public var collectionID: String?
    /// 0 for the server's default.
    public var pageSize: Int
    public var pageToken: String
    public var orders: [Order]
    public var mask: [FieldPath]?
    /// Also the ids that only have documents below them.
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

/// A row of a list; a document that is missing itself has only a path.
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
    /// Nil for one that the server makes.
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
    /// Nil to replace the document.
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

    /// Nil for the first reply of a new transaction that found nothing to carry it.
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
    /// One for each mutation, in order.
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

/// A part of a query's answer. An answer without documents is one reply that has only a read time.
public struct RunQueryReply: Hashable, Sendable {
    public var document: Document?
    public var transaction: TransactionID?
    public var readTime: Timestamp?
    /// Rows passed over for the offset; only in a reply of its own, before the documents.
    public var skippedResults: Int
    /// Only in the last reply of a query that is explained.
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
    /// By alias; nil where the query was only planned.
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
    /// Nil for the root.
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

/// What became of one mutation of a batch write; `result` counts only where `status` is ok.
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
