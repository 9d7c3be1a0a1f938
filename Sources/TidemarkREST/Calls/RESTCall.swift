import Foundation
import TidemarkModel
import TidemarkWire

/// A REST request decoded as an RPC. Encodes the RPC's replies as JSON.
struct RESTCall: Sendable {
    let method: RPCMethod
    let database: DatabaseID
    let request: Request
    /// True if the answer is a list.
    var isStreaming: Bool { method.streamsReplies }
    private let isPretty: Bool

    /// Returns the route of a request's method and path.
    ///
    /// - Throws: `NOT_FOUND` if there is no such method.
    static func route(of request: RESTRequest) throws(RESTRefusal) -> RESTRoute {
        guard let segments = URLText.segments(of: request.path),
            let route = RESTRoute(request.method, segments)
        else { throw RESTRefusal(.nothing(at: request.path), isList: false) }
        return route
    }

    /// - Throws: `INVALID_ARGUMENT` and others, in the words of production if they are known.
    init(_ request: RESTRequest, _ route: RESTRoute) throws(RPCStatus) {
        if route.rpc == .listen || route.rpc == .write {
            throw RPCStatus(
                .unimplemented, "\(route.rpc.rawValue) is a stream: it needs gRPC or WebChannel.")
        }
        guard let query = URLText.pairs(request.query ?? "") else {
            throw .badRequest("The query of the URL has invalid escapes.", at: "")
        }
        isPretty = !query.contains {
            ["prettyPrint", "$prettyPrint"].contains($0.name) && URLFlag.flag($0.value) == false
        }
        method = route.rpc
        if let (database, path) = route.document,
            query.allSatisfy({ RESTMessage.ofTheSystem.contains($0.name) })
        {
            self.database = database
            self.request = .getDocument(GetDocumentRequest(path: path))
            return
        }
        let bytes = try RESTMessage(route).bytes(query, request.body)
        (database, self.request) = try CallCoding.request(route.rpc, bytes)
    }

    /// Returns the JSON of one reply.
    func data(of reply: Reply) -> Data {
        guard let type = method.replyType else { return Data("{}\n".utf8) }
        if case .document(let document) = reply {
            return JSONOutput.document(document, in: database).data(isPretty: isPretty)
        }
        if case .executePipeline(let part) = reply {
            return JSONOutput.part(of: part, in: database).data(isPretty: isPretty)
        }
        let bytes = CallCoding.bytes(of: reply, in: database)
        return ProtoJSONWriter.json(type, bytes).data(isPretty: isPretty)
    }
}

/// The error of a request that names no call, or whose caller is refused, with the form in which
/// its client expects the error.
struct RESTRefusal: Error {
    let status: RPCStatus
    /// True if the error must be inside a list, as in the answers of RPCs that stream.
    let isList: Bool

    init(_ status: RPCStatus, isList: Bool) {
        self.status = status
        self.isList = isList
    }
}

/// Builds a request's message from its path, its query and its body.
private struct RESTMessage {
    private let route: RESTRoute

    init(_ route: RESTRoute) { self.route = route }

    func bytes(
        _ query: [(name: String, value: String)], _ body: [UInt8]
    ) throws(RPCStatus) -> [UInt8] {
        let schema = MessageSchema.of(route.message)
        var fromURL = route.fields
        fromURL += query.filter { !Self.ofTheSystem.contains($0.name) }
        var bytes: [UInt8] = []
        switch route.body {
        case .none: break
        case .whole:
            var reader = ProtoJSONReader()
            bytes = try reader.message(route.message, try object(body))
        case .field(let name):
            guard let field = schema.field(named: name) else { break }
            var document = try object(body)
            // The URL decides the name.
            document["name"] = nil
            for pair in route.fields where pair.name == name + ".name" {
                document["name"] = .text(pair.value)
            }
            fromURL.removeAll { $0.name == name + ".name" }
            var reader = ProtoJSONReader()
            bytes = try reader.message(route.message, [field.jsonName: .object(document)])
        }
        // In protobuf's encoding, a later field replaces an earlier one, and messages are merged.
        var reader = ProtoJSONReader(isFromURL: true)
        return bytes + (try reader.message(route.message, try tree(fromURL, schema)))
    }

    /// The query parameters that all methods of Google's APIs accept. REST calls use only
    /// `prettyPrint`.
    static let ofTheSystem: Set<String> = [
        "key", "alt", "$alt", "prettyPrint", "$prettyPrint", "fields", "$fields", "access_token",
        "oauth_token", "quotaUser", "callback", "$callback", "uploadType", "upload_protocol",
        "$.xgafv", "$httpHeaders", "$httpMethod", "$req", "$ct", "$unique",
    ]

    private func object(_ body: [UInt8]) throws(RPCStatus) -> JSONObject {
        if body.allSatisfy({ $0 <= 0x20 }) { return [:] }
        let value: JSONValue
        do throws(JSONFault) { value = try JSONValue(body) } catch {
            throw .invalidJSON("The body is not well-formed JSON. \(error.message).", at: "")
        }
        guard case .object(let object) = value else {
            throw .invalidJSON("Root element must be a message.", at: "")
        }
        return object
    }

    /// Converts names with dots to nested objects. If a field is not a list, its last value counts.
    private func tree(
        _ pairs: [(name: String, value: String)], _ schema: MessageSchema
    ) throws(RPCStatus) -> JSONObject {
        var tree: JSONObject = [:]
        for (name, value) in pairs {
            let parts = name.split(separator: ".", omittingEmptySubsequences: false)
            guard parts.count <= 4 else { throw Self.unbound(name) }
            tree = try set(
                value, parts: parts.map(String.init)[...], whole: name, schema: schema, in: tree)
        }
        return tree
    }

    private func set(
        _ value: String, parts: ArraySlice<String>, whole: String, schema: MessageSchema,
        in tree: JSONObject
    ) throws(RPCStatus) -> JSONObject {
        guard let head = parts.first, let field = schema.field(named: head) else {
            throw Self.unbound(whole)
        }
        var tree = tree
        let rest = parts.dropFirst()
        if !rest.isEmpty {
            guard case .message(let type) = field.kind, !field.isRepeated else {
                throw Self.unbound(whole)
            }
            let inner = tree[field.jsonName]?.object ?? [:]
            tree[field.jsonName] = .object(
                try set(value, parts: rest, whole: whole, schema: MessageSchema.of(type), in: inner)
            )
        } else if field.isRepeated, case .list(let earlier)? = tree[field.jsonName] {
            tree[field.jsonName] = .list(JSONList(Array(earlier) + [.text(value)]))
        } else {
            tree[field.jsonName] = field.isRepeated ? .list([.text(value)]) : .text(value)
        }
        return tree
    }

    private static func unbound(_ name: String) -> RPCStatus {
        .invalidJSON(
            """
            Unknown name "\(name.prefix(200))": Cannot bind query parameter. Field \
            '\(name.prefix(200))' could not be found in request message.
            """, at: "")
    }
}

extension RPCStatus {
    fileprivate static func nothing(at path: String) -> RPCStatus {
        RPCStatus(.notFound, "There is no method of Firestore at \(path.prefix(300)).")
    }
}
