/// Where the bearer token of every call comes from: the account that is signed in.
///
/// A sink, as of ``Transport``, so that a token that is in memory costs its caller no other thread.
public protocol TokenProvider: Sendable {
    /// Tells the token for a call that is about to be made: once, at once or later, on any thread.
    /// Nil when nobody is signed in; the call then goes without one. A failure ends the call with it.
    ///
    /// It answers within 30 s, whatever the network does. Callers at the same time share one refresh.
    ///
    /// - Parameter refused: The token that a server has answered `UNAUTHENTICATED` to, which must not
    ///   be told again: a forced refresh, unless another caller's has brought a newer one already. Nil
    ///   for any that is good.
    func token(
        replacing refused: String?,
        receive: @escaping @Sendable (Result<String?, RPCStatus>) -> Void)
}

extension TokenProvider {
    /// As ``token(replacing:receive:)``, for callers that can wait.
    public func token(replacing refused: String? = nil) async throws(RPCStatus) -> String? {
        let result = await withCheckedContinuation { continuation in
            token(replacing: refused) { continuation.resume(returning: $0) }
        }
        return try result.get()
    }
}
