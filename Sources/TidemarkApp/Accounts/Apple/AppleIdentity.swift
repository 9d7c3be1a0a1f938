import Foundation

/// The reason why *Sign in with Apple* returned no identity.
public enum AppleSignInError: Error, Hashable, Sendable {
    /// The user cancelled.
    case cancelled
    /// The answer has no token, or the token is of another request or user.
    case invalidAnswer
    /// The system's reason, for the log.
    case failed(String)
}

/// Apple's answer about a user, at the end of *Sign in with Apple*.
///
/// Apple sends the name and the address only the first time. Pass them with the sign-in, which
/// keeps them from then on: ``AccountJobs/signIn(_:profile:)``.
public struct AppleIdentity: Sendable {
    /// Apple's id of the user, the same in all apps of a team.
    public let user: String
    /// The credential for a sign-in. It is valid for a few minutes, and once.
    public let credential: ProviderCredential
    /// The code to withdraw the user's permission. It is valid for five minutes, and once.
    public let authorizationCode: String?
    public let givenName: String?
    public let familyName: String?
    /// The user's address, or an address from which Apple forwards mail.
    public let email: String?

    /// - Throws: `invalidAnswer` if the answer does not belong to the request with this nonce.
    init(_ answer: AppleAnswer, _ nonce: AppleNonce) throws(AppleSignInError) {
        struct Claims: Decodable { let sub, nonce: String? }
        guard let token = answer.identityToken.map({ String(decoding: $0, as: UTF8.self) }),
            let claims = TokenClaims.read(Claims.self, from: token),
            claims.sub == answer.user, claims.nonce == nonce.hashed
        else { throw .invalidAnswer }
        user = answer.user
        credential = ProviderCredential(
            provider: ProviderCredential.apple, idToken: token, nonce: nonce.text)
        authorizationCode = answer.authorizationCode.map { String(decoding: $0, as: UTF8.self) }
        givenName = answer.givenName
        familyName = answer.familyName
        email = answer.email
    }
}

/// The parts of the system's answer.
struct AppleAnswer {
    var user: String
    var identityToken: Data?
    var authorizationCode: Data?
    var givenName, familyName, email: String?
}
