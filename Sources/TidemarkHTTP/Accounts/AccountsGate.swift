public import TidemarkModel
import TidemarkServer

/// Firestore's callers, where tokens are signed: an administrator by the server's token, anybody else
/// by the token of an account.
///
/// Every call is looked at anew, so that what was revoked a moment ago is good for nothing now. A
/// stream is looked at when it opens.
public struct AccountsGate: CallerGate {
    private let accounts: AccountsServer

    public init(_ accounts: AccountsServer) { self.accounts = accounts }

    public func caller(_ token: String?, method: String) async throws(RPCStatus) -> Caller {
        guard let token, !token.isEmpty else { throw .credentialsMissing(method: method) }
        if let access = accounts.access, access.matches(token) { return Caller() }
        do throws(AccountRefusal) {
            let facts = try await accounts.facts(ofCaller: token)
            return Caller(userID: facts.localID, project: facts.project)
        } catch {
            if error.status == 503 { throw RPCStatus(.unavailable, error.message) }
            throw RPCStatus(.unauthenticated, Self.sentence(error))
        }
    }

    private static func sentence(_ refusal: AccountRefusal) -> String {
        switch refusal {
        case .tokenExpired: "The token has run out, or was revoked."
        case .userDisabled: "The account is disabled."
        case .userNotFound: "The account is gone."
        default: "The token is none of this server's."
        }
    }
}
