import GRPCCore
import TidemarkModel

extension RPCMethod {
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
