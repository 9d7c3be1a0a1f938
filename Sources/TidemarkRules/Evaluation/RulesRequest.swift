public import TidemarkModel

/// What rules decide about: one read, one write, or one query.
public struct RulesRequest: Sendable {
    public var method: RulesMethod
    /// The document; for a query, what is known of its results' paths.
    var path: [PathPattern.Part]
    /// What `request` is.
    public var request: RulesMap
    /// What `resource` is.
    public var resource: Resource

    public enum Resource: Sendable {
        case value(RulesValue)
        /// Whoever reads it gets this error.
        case failure(RulesFailure.Cause)
    }

    /// A request in its parts, for those who know what production makes of them.
    public init(
        _ method: RulesMethod, at path: RulesPath, request: RulesMap, resource: Resource
    ) {
        self.method = method
        self.path = path.segments.map { .text($0) }
        self.request = request
        self.resource = resource
    }

    /// A read or a write of one document.
    ///
    /// - Parameters:
    ///   - database: As in `(default)`.
    ///   - caller: Who asks; nil for nobody.
    ///   - before: The document's fields; nil where it does not exist.
    ///   - after: What a write makes of them; nil for reads and deletes.
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
    /// The document, below the database.
    var documentPath: String {
        let segments = path.map { part in
            if case .text(let text) = part { text } else { "*" }
        }
        return segments.dropFirst(3).joined(separator: "/")
    }

    /// About how many bytes of documents it holds.
    var extent: Int {
        guard case .value(.map(let before)) = resource else { return request.extent }
        return request.extent + before.extent
    }
}

/// The account that a request comes from.
public struct RulesCaller: Sendable {
    public let uid: String
    /// The claims of its token.
    public let claims: RulesMap

    public init(uid: String, claims: RulesMap) {
        self.uid = uid
        self.claims = claims
    }

    /// An account whose token has no claims but those that every token has.
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
