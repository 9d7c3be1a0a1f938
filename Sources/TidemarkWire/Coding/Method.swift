import GRPCCore

/// The methods of `google.firestore.v1.Firestore`.
enum Method: String, CaseIterable, Sendable {
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
    case executePipeline = "ExecutePipeline"
    case runAggregationQuery = "RunAggregationQuery"
    case partitionQuery = "PartitionQuery"
    case write = "Write"
    case listen = "Listen"
    case listCollectionIDs = "ListCollectionIds"
    case batchWrite = "BatchWrite"

    static let service = "google.firestore.v1.Firestore"

    var descriptor: MethodDescriptor { Self.descriptors[self]! }

    private static let descriptors = Dictionary(
        uniqueKeysWithValues: allCases.map { method in
            (
                method,
                MethodDescriptor(
                    fullyQualifiedService: service, method: method.rawValue, type: method.type)
            )
        })

    private var type: MethodDescriptor.RPCType {
        switch self {
        case .listen, .write: .bidirectionalStreaming
        case .batchGetDocuments, .runQuery, .executePipeline, .runAggregationQuery:
            .serverStreaming
        default: .unary
        }
    }
}
