public import TidemarkModel
import TidemarkServer

/// Checks Firestore's callers if tokens are signed. The server's token identifies an administrator.
/// The token of an account identifies a user.
///
/// Every call is checked again, so a revoked token is refused immediately. A stream ends if the
/// account is disabled or deleted, if its tokens are revoked, or if the token that opened the
/// stream expires.
public struct AccountsGate: CallerGate {
    private let accounts: AccountsServer

    public init(_ accounts: AccountsServer) { self.accounts = accounts }

    public func caller(_ token: String?, method: String) async throws(RPCStatus) -> Caller {
        guard let token, !token.isEmpty else { throw .credentialsMissing(method: method) }
        if let access = accounts.access, access.matches(token) { return Caller() }
        do throws(AccountRefusal) {
            let facts = try await accounts.facts(ofCaller: token)
            return Caller(userID: facts.localID, project: facts.project)
        } catch { throw Self.status(error) }
    }

    public func streamCaller(
        _ token: String?, method: String, end: @escaping @Sendable (RPCStatus) -> Void
    ) async throws(RPCStatus) -> StreamCaller {
        guard let token, !token.isEmpty else { throw .credentialsMissing(method: method) }
        if let access = accounts.access, access.matches(token) { return StreamCaller(Caller()) }
        do throws(AccountRefusal) {
            let (facts, watch) = try await accounts.watch(token) { end(Self.status($0)) }
            let now = accounts.desk.now
            return StreamCaller(
                Caller(userID: facts.localID, project: facts.project),
                isOver: { facts.expiresAt * 1_000 <= now() }
            ) { [accounts] in accounts.unwatch(watch) }
        } catch { throw Self.status(error) }
    }

    private static func status(_ refusal: AccountRefusal) -> RPCStatus {
        if refusal.status == 503 { return RPCStatus(.unavailable, refusal.message) }
        return RPCStatus(.unauthenticated, sentence(refusal))
    }

    private static func sentence(_ refusal: AccountRefusal) -> String {
        switch refusal {
        case .tokenExpired: "The token has expired or was revoked."
        case .userDisabled: "The account is disabled."
        case .userNotFound: "The account no longer exists."
        default: "This server did not issue the token."
        }
    }
}
