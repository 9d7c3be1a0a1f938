/// The RPCs of `google.firestore.v1.Firestore`, by their names in the protocol.
public enum RPCMethod: String, Hashable, Sendable, CaseIterable {
    case getDocument = "GetDocument"
    case listDocuments = "ListDocuments"
    case createDocument = "CreateDocument"
    case updateDocument = "UpdateDocument"
    case deleteDocument = "DeleteDocument"
    case batchGetDocuments = "BatchGetDocuments"
    case beginTransaction = "BeginTransaction"
    case commit = "Commit"
    case rollback = "Rollback"
    case runQuery = "RunQuery"
    /// Fails on databases of the Standard edition.
    case executePipeline = "ExecutePipeline"
    case runAggregationQuery = "RunAggregationQuery"
    case partitionQuery = "PartitionQuery"
    case write = "Write"
    case listen = "Listen"
    case listCollectionIDs = "ListCollectionIds"
    case batchWrite = "BatchWrite"
}

extension Request {
    /// The RPC that carries the request.
    package var method: RPCMethod {
        switch self {
        case .getDocument: .getDocument
        case .listDocuments: .listDocuments
        case .createDocument: .createDocument
        case .updateDocument: .updateDocument
        case .deleteDocument: .deleteDocument
        case .batchGetDocuments: .batchGetDocuments
        case .beginTransaction: .beginTransaction
        case .commit: .commit
        case .rollback: .rollback
        case .runQuery: .runQuery
        case .runAggregationQuery: .runAggregationQuery
        case .listCollectionIDs: .listCollectionIDs
        case .batchWrite: .batchWrite
        case .partitionQuery: .partitionQuery
        case .executePipeline: .executePipeline
        }
    }
}
