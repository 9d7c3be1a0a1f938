public import TidemarkModel

/// The subject of a decision: one read, one write, or one query.
public struct RulesRequest: Sendable {
    public var method: RulesMethod
    /// The document's path; for a query, the known parts of its results' paths.
    var path: [PathPattern.Part]
    /// The value of `request`.
    public var request: RulesMap
    /// The value of `resource`.
    public var resource: Resource

    public enum Resource: Sendable {
        case value(RulesValue)
        /// Reading `resource` gives this error.
        case failure(RulesFailure.Cause)
    }

    /// Makes a request from its parts, for callers that know production's form of them.
    public init(
        _ method: RulesMethod, at path: RulesPath, request: RulesMap, resource: Resource
    ) {
        self.method = method
        self.path = path.segments.map { .text($0) }
        self.request = request
        self.resource = resource
    }

    /// Makes the request of a read or a write of one document.
    ///
    /// - Parameters:
    ///   - database: The name of the database, for example `(default)`.
    ///   - caller: The caller; nil if not signed in.
    ///   - before: The document's fields; nil if it does not exist.
    ///   - after: The fields after a write; nil for reads and deletes.
    public init(
        _ method: RulesMethod, _ document: DocumentPath, in database: String = "(default)",
        as caller: RulesCaller?, at time: Timestamp, before: MapValue?, after: MapValue? = nil
    ) {
        precondition(method != .list, "a list is of a query")
        let path = RulesPath(document, in: database)
        var request: [(key: String, value: RulesValue)] = [
            ("auth", caller?.value ?? .null), ("method", .string(method.rawValue)),
            ("path", .path(path)), ("time", .timestamp(time)),
        ]
        if let after { request.append(("resource", .map(.document(RulesMap(after), at: path)))) }
        self.init(
            method, at: path, request: RulesMap(request),
            resource: .value(before.map { .map(.document(RulesMap($0), at: path)) } ?? .null))
    }
}

extension RulesRequest {
    /// The document's path below the database.
    var documentPath: String {
        let segments = path.map { part in
            if case .text(let text) = part { text } else { "*" }
        }
        return segments.dropFirst(3).joined(separator: "/")
    }

    /// The approximate number of bytes of documents in the request.
    var extent: Int {
        guard case .value(.map(let before)) = resource else { return request.extent }
        return request.extent + before.extent
    }
}

/// The account that makes a request.
public struct RulesCaller: Sendable {
    public let uid: String
    /// The claims of the account's token.
    public let claims: RulesMap

    public init(uid: String, claims: RulesMap) {
        self.uid = uid
        self.claims = claims
    }

    /// Makes an account whose token has only the standard claims besides `claims`.
    public init(uid: String, claims: MapValue = MapValue()) {
        var all = claims
        if all["sub"] == nil { all["sub"] = .string(uid) }
        if all["user_id"] == nil { all["user_id"] = .string(uid) }
        self.init(uid: uid, claims: RulesMap(all))
    }

    var value: RulesValue {
        .map(RulesMap([("token", .map(claims)), ("uid", .string(uid))]))
    }
}
