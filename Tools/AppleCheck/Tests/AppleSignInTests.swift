import AuthenticationServices
import Foundation
import Testing

@testable import TidemarkApp

/// Runs the real adapter on answers that a test makes.
@MainActor @Suite(.serialized, .timeLimit(.minutes(1))) struct `Sign in with Apple` {
    private let signIn = AppleSignIn()

    private func token(_ claims: String) -> Data {
        let text = Data(claims.utf8).base64EncodedString()
            .replacingOccurrences(of: "=", with: "").replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "+", with: "-")
        return Data("head.\(text).signature".utf8)
    }

    private func prepared() -> ASAuthorizationAppleIDRequest {
        let request = ASAuthorizationAppleIDProvider().createRequest()
        signIn.prepare(request)
        return request
    }

    private func answer(
        _ nonce: String?, user: String = "001.ada"
    ) -> Result<ASAuthorization, any Error> {
        var name = PersonNameComponents()
        name.givenName = "Ada"
        name.familyName = "Lovelace"
        let credential = ASAuthorizationAppleIDCredential(
            stub: user, token: token(#"{"sub":"001.ada","nonce":"\#(nonce ?? "")"}"#),
            code: Data("code".utf8), name: name, email: "ada@example.com")
        return .success(ASAuthorization(stub: credential))
    }

    @Test func `asks with a nonce, and hands over who it is`() throws {
        let request = prepared()
        #expect(request.requestedScopes == [.fullName, .email])
        let identity = try signIn.identity(answer(request.nonce))
        #expect(identity.user == "001.ada")
        #expect(identity.givenName == "Ada" && identity.familyName == "Lovelace")
        #expect(identity.email == "ada@example.com")
        #expect(identity.authorizationCode == "code")
        #expect(identity.credential.provider == "apple.com")
        #expect(identity.credential.appleUser == "001.ada")
        let sent = try #require(identity.credential.nonce)
        #expect(request.nonce == "hash of \(sent)")
    }

    @Test func `is two calls of an app's`() throws {
        let request = ASAuthorizationAppleIDProvider().createRequest()
        signIn.prepare(request)
        let result = answer(request.nonce)
        let identity = try signIn.identity(result)
        #expect(identity.user == "001.ada")
    }

    @Test func `takes each answer once, and none of another request`() throws {
        let first = prepared().nonce
        #expect(prepared().nonce != first)
        #expect(throws: AppleSignInError.invalidAnswer) { try signIn.identity(answer(first)) }
        let request = prepared()
        _ = try signIn.identity(answer(request.nonce))
        #expect(throws: AppleSignInError.invalidAnswer) {
            try signIn.identity(answer(request.nonce))
        }
        let other = prepared().nonce
        #expect(throws: AppleSignInError.invalidAnswer) {
            try signIn.identity(answer(other, user: "002.eve"))
        }
    }

    @Test func `says why there is none`() {
        _ = prepared()
        #expect(throws: AppleSignInError.cancelled) {
            try signIn.identity(.failure(ASAuthorizationError(.canceled)))
        }
        _ = prepared()
        let error = #expect(throws: AppleSignInError.self) {
            try signIn.identity(.failure(ASAuthorizationError(.failed)))
        }
        guard case .failed? = error else { return #expect(Bool(false), "\(error as Any)") }
        _ = prepared()
        #expect(throws: AppleSignInError.invalidAnswer) {
            try signIn.identity(.success(ASAuthorization(stub: ASPasswordCredential())))
        }
    }

    @Test(arguments: [
        (
            ASAuthorizationAppleIDProvider.CredentialState.authorized,
            AppleCredentialState.authorized
        ),
        (.revoked, .revoked), (.notFound, .notFound), (.transferred, .transferred),
    ]) func `knows what the system knows`(
        state: ASAuthorizationAppleIDProvider.CredentialState, expected: AppleCredentialState
    ) async {
        ASAuthorizationAppleIDProvider.stubSet("001.ada", state)
        #expect(await SystemAppleCredentials().state(of: "001.ada") == expected)
        #expect(await SystemAppleCredentials().state(of: "nobody") == nil, "an error says nothing")
    }

    @Test func `hears of what is taken back`() async {
        var revocations = SystemAppleCredentials().revocations.makeAsyncIterator()
        NotificationCenter.default.post(
            name: ASAuthorizationAppleIDProvider.credentialRevokedNotification, object: nil)
        #expect(await revocations.next() != nil)
    }
}
