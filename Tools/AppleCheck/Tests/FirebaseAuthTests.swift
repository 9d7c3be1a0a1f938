import FirebaseAuth
import Testing

@testable import FirebaseAuthAdapter
@testable import TidemarkApp

/// Runs the adapter on accounts in memory.
@Suite(.serialized, .timeLimit(.minutes(1))) struct `FirebaseAuth's adapter` {
    private let auth = Auth()
    private var library: FirebaseLibrary { FirebaseLibrary(auth) }
    private let password = SignInRequest.Proof.password(email: "a@b.c", "secret")

    private func error(_ code: AuthErrorCode) -> AccountError {
        library.accountError(code.stubError)
    }

    @Test func `makes an account once, and finds it again`() async throws {
        let made = try await library.signIn(SignInRequest(password))
        #expect(made == ("u1", true) && library.user == "u1")
        let again = try await library.signIn(SignInRequest(password))
        #expect(again == ("u1", false))
        #expect(try await library.idToken(forcingRefresh: false) == "u1 old")
        #expect(try await library.idToken(forcingRefresh: true) == "u1 new")
        try await library.signOut()
        #expect(library.user == nil)
        #expect(try await library.idToken(forcingRefresh: true) == nil)
    }

    @Test func `makes no account where one is only looked for`() async throws {
        let failure = await #expect(throws: (any Error).self) {
            try await library.signIn(SignInRequest(password, mayCreate: false))
        }
        #expect(failure.map { library.accountError($0) } == .wrongCredentials)
        #expect(auth.stubAccounts.isEmpty)
    }

    @Test func `hands over Apple's token with its nonce, and another provider's`() async throws {
        let apple = ProviderCredential(provider: "apple.com", idToken: "token", nonce: "n")
        #expect(try await library.signIn(SignInRequest(.provider(apple))) == ("u1", true))
        let google = ProviderCredential(provider: "oidc.x", idToken: "other")
        #expect(try await library.signIn(SignInRequest(.provider(google))) == ("u2", true))
        #expect(try await library.signIn(SignInRequest(.customToken("c"))) == ("u3", true))
        #expect(auth.stubCredentials == [["apple.com", "token", "n"], ["oidc.x", "other", ""]])
        auth.stubFailure = .invalidCredential
        let refused = await #expect(throws: AccountError.self) {
            try await library.signIn(SignInRequest(.provider(apple)))
        }
        guard case .providerRefused? = refused else { throw Unexpected() }
    }

    private struct Unexpected: Error {}

    @Test func `deletes the account after a new proof, and withdraws Apple's permission`()
        async throws
    {
        let apple = ProviderCredential(provider: "apple.com", idToken: "token", nonce: "n")
        _ = try await library.signIn(SignInRequest(.provider(apple)))
        auth.stubAge = 900
        #expect(try await library.signInAge() == .seconds(900))
        try await library.reauthenticate(with: apple)
        #expect(try await library.signInAge() == .zero)
        let other = ProviderCredential(provider: "apple.com", idToken: "another")
        let failure = await #expect(throws: (any Error).self) {
            try await library.reauthenticate(with: other)
        }
        #expect(failure.map { library.accountError($0) } == .wrongCredentials)
        try await library.revokeApple(authorizationCode: "code")
        try await library.deleteAccount()
        #expect(auth.stubRevoked == ["code"] && auth.stubAccounts.isEmpty && library.user == nil)
        await #expect(throws: AccountError.signedOut) { try await library.deleteAccount() }
    }

    @Test func `tells when the user is known, at each change, and stops with its reader`()
        async throws
    {
        do {
            var changes = library.changes.makeAsyncIterator()
            #expect(auth.stubListeners == 1)
            #expect(await changes.next() != nil)
            _ = try await library.signIn(SignInRequest(password))
            #expect(await changes.next() != nil)
        }
        while auth.stubListeners > 0 { await Task.yield() }
    }

    @Test func `knows what the errors mean`() {
        #expect(error(.requiresRecentLogin) == .needsRecentSignIn)
        #expect(error(.userTokenExpired) == .sessionExpired)
        #expect(error(.userNotFound) == .accountGone)
        #expect(error(.emailAlreadyInUse) == .addressTaken)
        #expect(error(.operationNotAllowed) == .notAllowed)
        #expect(error(.tooManyRequests) == .tooManyAttempts)
        for (code, isSame) in [
            (AuthErrorCode.networkError, { if case .unreachable = $0 { true } else { false } }),
            (.internalError, { if case .refused = $0 { true } else { false } }),
            (.keychainError, { if case .storage = $0 { true } else { false } }),
        ] as [(AuthErrorCode, (AccountError) -> Bool)] {
            #expect(isSame(error(code)), "\(code)")
        }
        let other = library.accountError(Unexpected())
        guard case .unreachable = other else {
            Issue.record("\(other)")
            return
        }
    }
}
