/// The identity of a caller, as its credentials state it.
public struct Caller: Hashable, Sendable {
    /// The account; nil for an administrator, and for every caller of a server without a gate.
    public var userID: String?
    /// The only project whose databases the caller can access; nil for any project.
    public var project: String?

    public init(userID: String? = nil, project: String? = nil) {
        self.userID = userID
        self.project = project
    }

    /// - Throws: `unauthenticated` for a database of another project.
    package func checkReach(of database: DatabaseID) throws(RPCStatus) {
        guard let project, !project.hasSameBytes(as: database.project) else { return }
        throw RPCStatus(
            .unauthenticated, "The token is of project \(project), not of \(database.project).")
    }
}

/// Decides who may call a server.
public protocol CallerGate: Sendable {
    /// - Parameters:
    ///   - token: The bearer token; nil if there is none.
    ///   - method: The method's name in the protocol, for example `Commit`.
    /// - Throws: `unauthenticated` with the reason.
    func caller(_ token: String?, method: String) async throws(RPCStatus) -> Caller
}

extension AccessToken: CallerGate {
    public func caller(_ token: String?, method: String) async throws(RPCStatus) -> Caller {
        if matches(token) { return Caller() }
        throw .credentialsMissing(method: method)
    }
}
