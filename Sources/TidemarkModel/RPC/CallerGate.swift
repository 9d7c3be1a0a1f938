/// Who calls, as far as what they showed says.
public struct Caller: Hashable, Sendable {
    /// The account; nil for an administrator, and for anybody where nothing is asked.
    public var userID: String?
    /// The only project whose databases the caller may reach; nil for any.
    public var project: String?

    public init(userID: String? = nil, project: String? = nil) {
        self.userID = userID
        self.project = project
    }

    /// - Throws: `unauthenticated` for another project's database.
    package func checkReach(of database: DatabaseID) throws(RPCStatus) {
        guard let project, !project.hasSameBytes(as: database.project) else { return }
        throw RPCStatus(
            .unauthenticated, "The token is of project \(project), not of \(database.project).")
    }
}

/// Decides who may call a server.
public protocol CallerGate: Sendable {
    /// - Parameters:
    ///   - token: What came as a bearer token; nil for nothing.
    ///   - method: The call's name in the protocol, as in `Commit`.
    /// - Throws: `unauthenticated` with the reason.
    func caller(_ token: String?, method: String) async throws(RPCStatus) -> Caller
}

extension AccessToken: CallerGate {
    public func caller(_ token: String?, method: String) async throws(RPCStatus) -> Caller {
        if matches(token) { return Caller() }
        throw .credentialsMissing(method: method)
    }
}
