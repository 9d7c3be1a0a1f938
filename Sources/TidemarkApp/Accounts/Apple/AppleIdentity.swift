import Foundation

/// Why *Sign in with Apple* gave no identity.
public enum AppleSignInError: Error, Hashable, Sendable {
    /// The person does not want to.
    case cancelled
    /// The answer has no token, or one of another request or person.
    case invalidAnswer
    /// The system's reason, for the log.
    case failed(String)
}

/// What Apple says of a person: once, at the end of *Sign in with Apple*.
///
/// Apple tells the name and the address the first time only. Hand them over with the sign-in, so that they
/// are kept from then on: ``AccountJobs/signIn(_:profile:)``.
public struct AppleIdentity: Sendable {
    /// Apple's id of the person, the same in all apps of a team.
    public let user: String
    /// Signs in: valid for a few minutes, and once.
    public let credential: ProviderCredential
    /// Takes back what the person has allowed: valid for five minutes, and once.
    public let authorizationCode: String?
    public let givenName: String?
    public let familyName: String?
    /// The person's, or one at which Apple passes mail on.
    public let email: String?

    /// - Throws: `invalidAnswer` when the answer is not that of the request with this nonce.
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

/// What the system hands over.
struct AppleAnswer {
    var user: String
    var identityToken: Data?
    var authorizationCode: Data?
    var givenName, familyName, email: String?
}
