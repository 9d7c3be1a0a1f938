import Foundation
import TidemarkModel

/// The RPC that a method and a path select, and the request fields that the path sets. Source: the
/// HTTP rules of `google.firestore.v1`, as webchannel-rest 2 lists them.
package struct RESTRoute: Sendable {
    enum Body: Sendable {
        /// The call has no body. The URL's query sets fields.
        case none
        /// The body is the whole request.
        case whole
        /// The body is one field of the request. The URL's query sets other fields.
        case field(String)
    }

    let rpc: RPCMethod
    let message: MessageType
    let body: Body
    /// The values from the path, by field name. Names of nested fields have dots.
    let fields: [(name: String, value: String)]
    /// The document of a `GET`. A request without other fields then needs no message. Nil if the
    /// name is invalid; the message's decoder then reports the error.
    private(set) var document: (database: DatabaseID, path: DocumentPath)?

    /// - Returns: The route; nil if there is no such method.
    init?(_ method: String, _ segments: [String]) {
        guard segments.count >= 6, Self.versions.contains(segments[0]),
            segments[1] == "projects",
            segments[3] == "databases", !segments[2].isEmpty, !segments[4].isEmpty,
            segments.allSatisfy({ !$0.isEmpty })
        else { return nil }
        if method == "POST", let route = Self(custom: segments) {
            self = route
            return
        }
        guard segments[5] == "documents", segments.count > 6 else { return nil }
        let name = segments.dropFirst().joined(separator: "/")
        let isDocument = segments.count.isMultiple(of: 2)
        switch (method, isDocument) {
        case ("GET", true):
            self.init(.getDocument, .getDocumentRequest, fields: [("name", name)])
            let path = segments[6...].joined(separator: "/")
            if let database = try? DatabaseID(project: segments[2], database: segments[4]),
                let path = try? DocumentPath(path)
            {
                document = (database, path)
            }
        case ("GET", false): self.init(.listDocuments, .listDocumentsRequest, segments: segments)
        case ("POST", false):
            self.init(
                .createDocument, .createDocumentRequest, segments: segments,
                body: .field("document"))
        case ("PATCH", true):
            self.init(
                .updateDocument, .updateDocumentRequest, fields: [("document.name", name)],
                body: .field("document"))
        case ("DELETE", true):
            self.init(.deleteDocument, .deleteDocumentRequest, fields: [("name", name)])
        default: return nil
        }
    }

    private init(
        _ rpc: RPCMethod, _ message: MessageType, fields: [(name: String, value: String)],
        body: Body = .none
    ) {
        self.rpc = rpc
        self.message = message
        self.fields = fields
        self.body = body
    }

    /// Makes the route of a collection, from its parent and its id.
    private init(
        _ rpc: RPCMethod, _ message: MessageType, segments: [String], body: Body = .none
    ) {
        let parent = segments.dropFirst().dropLast().joined(separator: "/")
        let id = segments[segments.count - 1]
        self.init(rpc, message, fields: [("parent", parent), ("collection_id", id)], body: body)
    }

    /// Makes the route of a method that is named by `:word` after the path.
    private init?(custom segments: [String]) {
        guard let last = segments.last, let colon = last.lastIndex(of: ":") else { return nil }
        let word = String(last[last.index(after: colon)...])
        var path = Array(segments.dropFirst())
        path[path.count - 1] = String(last[..<colon])
        guard path[4] == "documents" else { return nil }
        let database = path[..<4].joined(separator: "/")
        let parent = path.joined(separator: "/")
        if let (rpc, message) = Self.ofDatabase[word], path.count == 5 {
            self.init(rpc, message, fields: [("database", database)], body: .whole)
        } else if let (rpc, message) = Self.ofParent[word], !path.count.isMultiple(of: 2) {
            self.init(rpc, message, fields: [("parent", parent)], body: .whole)
        } else {
            return nil
        }
    }

    /// The first segments of paths. Clients of the API's beta version send the same requests.
    static let versions: Set<String> = ["v1", "v1beta1"]

    /// Returns true if the path belongs to a call, even if that call does not exist.
    package static func isCall(_ path: String) -> Bool {
        versions.contains { path.hasPrefix("/\($0)/") }
    }

    private static let ofDatabase: [String: (RPCMethod, MessageType)] = [
        "batchGet": (.batchGetDocuments, .batchGetDocumentsRequest),
        "beginTransaction": (.beginTransaction, .beginTransactionRequest),
        "commit": (.commit, .commitRequest), "rollback": (.rollback, .rollbackRequest),
        "batchWrite": (.batchWrite, .batchWriteRequest),
        "executePipeline": (.executePipeline, .executePipelineRequest),
        "write": (.write, .writeRequest), "listen": (.listen, .listenRequest),
    ]

    private static let ofParent: [String: (RPCMethod, MessageType)] = [
        "runQuery": (.runQuery, .runQueryRequest),
        "runAggregationQuery": (.runAggregationQuery, .runAggregationQueryRequest),
        "partitionQuery": (.partitionQuery, .partitionQueryRequest),
        "listCollectionIds": (.listCollectionIDs, .listCollectionIdsRequest),
    ]
}

extension RPCMethod {
    /// True if REST answers with a list, because the RPC streams replies.
    var streamsReplies: Bool {
        switch self {
        case .batchGetDocuments, .runQuery, .runAggregationQuery, .executePipeline, .listen, .write:
            true
        default: false
        }
    }

    /// The message type of one reply; nil if the reply is empty.
    var replyType: MessageType? {
        switch self {
        case .getDocument, .createDocument, .updateDocument: .document
        case .listDocuments: .listDocumentsResponse
        case .batchGetDocuments: .batchGetDocumentsResponse
        case .beginTransaction: .beginTransactionResponse
        case .commit: .commitResponse
        case .runQuery: .runQueryResponse
        case .runAggregationQuery: .runAggregationQueryResponse
        case .partitionQuery: .partitionQueryResponse
        case .listCollectionIDs: .listCollectionIdsResponse
        case .batchWrite: .batchWriteResponse
        case .executePipeline: .executePipelineResponse
        case .deleteDocument, .rollback, .write, .listen: nil
        }
    }
}
