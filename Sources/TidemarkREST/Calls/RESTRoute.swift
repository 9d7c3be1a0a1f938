import Foundation
import TidemarkModel

/// Which RPC a method and a path mean, and which of its fields the path sets. Source: the HTTP rules of
/// `google.firestore.v1`, as webchannel-rest 2 lists them.
package struct RESTRoute: Sendable {
    enum Body: Sendable {
        /// It has none; the URL's query sets fields.
        case none
        /// It is the whole request.
        case whole
        /// It is one field; the URL's query sets others.
        case field(String)
    }

    let rpc: RPCMethod
    let message: MessageType
    let body: Body
    /// By the field's name, with dots for fields of fields.
    let fields: [(name: String, value: String)]
    /// The document that a `GET` asks for: a request that says no more needs no message. Nil for a name
    /// that is none, of which the message's decoder knows what to say.
    private(set) var document: (database: DatabaseID, path: DocumentPath)?

    /// - Returns: Nil where there is nothing.
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
            self.init(.getDocument, .getDocumentRequest, [("name", name)])
            let path = segments[6...].joined(separator: "/")
            if let database = try? DatabaseID(project: segments[2], database: segments[4]),
                let path = try? DocumentPath(path)
            {
                document = (database, path)
            }
        case ("GET", false): self.init(.listDocuments, .listDocumentsRequest, segments)
        case ("POST", false):
            self.init(.createDocument, .createDocumentRequest, segments, .field("document"))
        case ("PATCH", true):
            self.init(
                .updateDocument, .updateDocumentRequest, [("document.name", name)],
                .field("document"))
        case ("DELETE", true):
            self.init(.deleteDocument, .deleteDocumentRequest, [("name", name)])
        default: return nil
        }
    }

    private init(
        _ rpc: RPCMethod, _ message: MessageType, _ fields: [(name: String, value: String)],
        _ body: Body = .none
    ) {
        self.rpc = rpc
        self.message = message
        self.fields = fields
        self.body = body
    }

    /// Of a collection: its parent and its id.
    private init(
        _ rpc: RPCMethod, _ message: MessageType, _ segments: [String], _ body: Body = .none
    ) {
        let parent = segments.dropFirst().dropLast().joined(separator: "/")
        let id = segments[segments.count - 1]
        self.init(rpc, message, [("parent", parent), ("collection_id", id)], body)
    }

    /// What is called by `:word` after the path.
    private init?(custom segments: [String]) {
        guard let last = segments.last, let colon = last.lastIndex(of: ":") else { return nil }
        let word = String(last[last.index(after: colon)...])
        var path = Array(segments.dropFirst())
        path[path.count - 1] = String(last[..<colon])
        guard path[4] == "documents" else { return nil }
        let database = path[..<4].joined(separator: "/")
        let parent = path.joined(separator: "/")
        if let (rpc, message) = Self.ofDatabase[word], path.count == 5 {
            self.init(rpc, message, [("database", database)], .whole)
        } else if let (rpc, message) = Self.ofParent[word], !path.count.isMultiple(of: 2) {
            self.init(rpc, message, [("parent", parent)], .whole)
        } else {
            return nil
        }
    }

    /// As paths begin: clients of the interface's beta version ask the same.
    static let versions: Set<String> = ["v1", "v1beta1"]

    /// True for the path of a call, if of one that does not exist.
    package static func isCall(_ path: String) -> Bool {
        versions.contains { path.hasPrefix("/\($0)/") }
    }

    private static let ofDatabase: [String: (RPCMethod, MessageType)] = [
        "batchGet": (.batchGetDocuments, .batchGetDocumentsRequest),
        "beginTransaction": (.beginTransaction, .beginTransactionRequest),
        "commit": (.commit, .commitRequest), "rollback": (.rollback, .rollbackRequest),
        "batchWrite": (.batchWrite, .batchWriteRequest),
        "write": (.write, .writeRequest), "listen": (.listen, .listenRequest),
    ]

    private static let ofParent: [String: (RPCMethod, MessageType)] = [
        "runQuery": (.runQuery, .runQueryRequest),
        "runAggregationQuery": (.runAggregationQuery, .runAggregationQueryRequest),
        "partitionQuery": (.partitionQuery, .partitionQueryRequest),
        "listCollectionIds": (.listCollectionIDs, .listCollectionIdsRequest),
        "executePipeline": (.executePipeline, .runQueryRequest),
    ]
}

extension RPCMethod {
    /// Whether REST answers with a list, because the RPC streams.
    var streamsReplies: Bool {
        switch self {
        case .batchGetDocuments, .runQuery, .runAggregationQuery, .executePipeline, .listen, .write:
            true
        default: false
        }
    }

    /// What one reply is in JSON.
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
        case .deleteDocument, .rollback, .executePipeline, .write, .listen: nil
        }
    }
}
