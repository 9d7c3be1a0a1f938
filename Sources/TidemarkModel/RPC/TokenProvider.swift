/// Provides the bearer token of each call, from the account that is signed in.
///
/// The token is passed to a callback, as in ``Transport``, so a token in memory needs no other
/// thread.
public protocol TokenProvider: Sendable {
    /// Passes a token for one call to `receive`: exactly once, immediately or later, on any thread.
    /// Passes nil if no user is signed in; the call then carries no token. A failure becomes the
    /// result of the call.
    ///
    /// `receive` is called within 30 s, whatever the network does. Concurrent callers share one
    /// refresh.
    ///
    /// - Parameter refused: A token that a server has answered with `UNAUTHENTICATED`, and which
    ///   must not be returned again. It forces a refresh, unless another caller has already
    ///   obtained a newer token. Nil accepts any valid token.
    func token(
        replacing refused: String?,
        receive: @escaping @Sendable (Result<String?, RPCStatus>) -> Void)
}

extension TokenProvider {
    /// Like ``token(replacing:receive:)``, for asynchronous callers.
    public func token(replacing refused: String? = nil) async throws(RPCStatus) -> String? {
        let result = await withCheckedContinuation { continuation in
            token(replacing: refused) { continuation.resume(returning: $0) }
        }
        return try result.get()
    }
}
