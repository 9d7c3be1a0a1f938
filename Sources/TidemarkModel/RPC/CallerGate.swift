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
            .unauthenticated,
            """
            The token is of project \(project), not of \(database.project). An API key names no \
            project to this server: accounts are of the project that --accounts-project names.
            """)
    }
}

/// Decides who may call a server.
public protocol CallerGate: Sendable {
    /// - Parameters:
    ///   - token: The bearer token; nil if there is none.
    ///   - method: The method's name in the protocol, for example `Commit`.
    /// - Throws: `unauthenticated` with the reason.
    func caller(_ token: String?, method: String) async throws(RPCStatus) -> Caller

    /// Says who opens a stream, which goes on after this answer.
    ///
    /// - Parameters:
    ///   - token: What came as a bearer token; nil for nothing.
    ///   - method: The stream's name in the protocol, as in `Listen`.
    ///   - end: Called at most once, with `unauthenticated`, when what was shown is revoked before
    ///     its time is over. It may be called before this returns.
    /// - Throws: `unauthenticated` with the reason.
    func streamCaller(
        _ token: String?, method: String, end: @escaping @Sendable (RPCStatus) -> Void
    ) async throws(RPCStatus) -> StreamCaller
}

/// The caller who has opened a stream, and the end of the caller's token.
public struct StreamCaller: Sendable {
    public var caller: Caller
    /// Returns true if the caller's token has expired. The server asks about once a second. Nil for
    /// a token that never expires.
    public var isOver: (@Sendable () -> Bool)?
    /// Ends the watch over the token. Call it once, when the stream has ended.
    public var leave: @Sendable () -> Void

    public init(
        _ caller: Caller, isOver: (@Sendable () -> Bool)? = nil,
        leave: @escaping @Sendable () -> Void = {}
    ) {
        self.caller = caller
        self.isOver = isOver
        self.leave = leave
    }
}

extension CallerGate {
    /// Looks at the caller once, when the stream opens.
    public func streamCaller(
        _ token: String?, method: String, end: @escaping @Sendable (RPCStatus) -> Void
    ) async throws(RPCStatus) -> StreamCaller {
        StreamCaller(try await caller(token, method: method))
    }
}

extension AccessToken: CallerGate {
    public func caller(_ token: String?, method: String) async throws(RPCStatus) -> Caller {
        if matches(token) { return Caller() }
        throw .credentialsMissing(method: method)
    }
}
