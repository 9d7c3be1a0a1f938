import Foundation

/// The accounts server's calls, one function for each call. Keeps no state.
struct AccountsService: Sendable {
    /// The maximum duration of a request. Source: journeys 4, and a network on which every call
    /// takes 18 s.
    static let timeout = Duration.seconds(25)
    /// The maximum size of an answer.
    static let maxReplyBytes = 1 << 20

    let transport: any AccountsTransport

    /// The result of a sign-in.
    struct SignIn: Hashable, Sendable {
        var user: UserID
        var idToken: String
        var refreshToken: String
        /// The remaining lifetime, in seconds.
        var lifetime: Int64
        /// True if this request created the account.
        var isNew: Bool
    }

    func signUp(
        email: String?, password: String?, upgrading idToken: String? = nil
    ) async throws(AccountError) -> SignIn {
        let reply: Reply = try await post(
            "accounts:signUp",
            Body(email: email, password: password, idToken: idToken, returnSecureToken: true))
        return try reply.signIn(isNew: idToken == nil)
    }

    func signIn(email: String, password: String) async throws(AccountError) -> SignIn {
        let reply: Reply = try await post(
            "accounts:signInWithPassword",
            Body(email: email, password: password, returnSecureToken: true))
        return try reply.signIn(isNew: false)
    }

    func signIn(customToken: String) async throws(AccountError) -> SignIn {
        let reply: Reply = try await post(
            "accounts:signInWithCustomToken", Body(token: customToken, returnSecureToken: true))
        return try reply.signIn(isNew: reply.isNewUser ?? false)
    }

    /// - Parameter idToken: The token of the account that the identity is linked to; nil to sign in
    ///   with the identity.
    func signIn(
        with credential: ProviderCredential, linkingTo idToken: String? = nil
    ) async throws(AccountError) -> SignIn {
        let reply: Reply = try await post(
            "accounts:signInWithIdp",
            Body(
                idToken: idToken, requestUri: "http://localhost", postBody: credential.postBody,
                returnSecureToken: true, returnIdpCredential: true))
        return try reply.signIn(isNew: reply.isNewUser ?? false)
    }

    /// Sets the address and the password of an account, which also turns an installation's account
    /// into a named account.
    func update(
        _ idToken: String, email: String?, password: String?
    ) async throws(AccountError) -> SignIn? {
        let reply: Reply = try await post(
            "accounts:update",
            Body(email: email, password: password, idToken: idToken, returnSecureToken: true))
        return reply.idToken == nil ? nil : try reply.signIn(isNew: false)
    }

    func delete(_ idToken: String) async throws(AccountError) {
        let _: Reply = try await post("accounts:delete", Body(idToken: idToken))
    }

    /// Withdraws the user's permission at Apple. Source: `accounts.revokeToken` of Identity Toolkit
    /// 2.
    func revokeApple(_ code: String, _ idToken: String) async throws(AccountError) {
        struct Nothing: Decodable {}
        let _: Nothing = try await send(
            .accounts, path: "v2/accounts:revokeToken",
            body: RevocationBody(
                providerId: ProviderCredential.apple, tokenType: "CODE", token: code,
                idToken: idToken))
    }

    /// Returns the server's data of the account.
    func lookUp(_ idToken: String) async throws(AccountError) -> AccountDetails {
        let reply: Reply = try await post("accounts:lookup", Body(idToken: idToken))
        guard let user = reply.users?.first else { throw .sessionExpired }
        return user
    }

    func refresh(_ refreshToken: String) async throws(AccountError) -> SignIn {
        let reply: TokenReply = try await send(
            .tokens, path: "v1/token",
            body: RefreshBody(grant_type: "refresh_token", refresh_token: refreshToken))
        guard let user = reply.user_id.flatMap(UserID.init), let token = reply.id_token,
            let next = reply.refresh_token
        else { throw .unreachable("The answer is no token.") }
        return SignIn(
            user: user, idToken: token, refreshToken: next,
            lifetime: Self.lifetime(reply.expires_in), isNew: false)
    }

    // MARK: Requests

    private struct Body: Encodable {
        var email, password, idToken, token, requestUri, postBody: String?
        var returnSecureToken, returnIdpCredential: Bool?
    }

    private struct RevocationBody: Encodable {
        let providerId, tokenType, token, idToken: String
    }

    private struct RefreshBody: Encodable {
        let grant_type, refresh_token: String
    }

    struct Reply: Decodable {
        var localId, idToken, refreshToken, expiresIn: String?
        var isNewUser: Bool?
        var needConfirmation: Bool?
        var users: [AccountDetails]?
        var mfaPendingCredential: String?
        var mfaInfo: [SecondFactor]?

        func signIn(isNew: Bool) throws(AccountError) -> SignIn {
            if needConfirmation == true { throw .alreadyLinked }
            if let mfaPendingCredential, idToken == nil {
                throw .needsSecondFactor(
                    SecondFactorChallenge(factors: mfaInfo ?? [], pending: mfaPendingCredential))
            }
            guard let idToken, let refreshToken else {
                throw .unreachable("The answer is no sign-in.")
            }
            // A sign-in with a custom token names the user only in the token.
            let name = localId ?? AccountsService.subject(of: idToken)
            guard let user = name.flatMap(UserID.init) else {
                throw .unreachable("The answer names no user.")
            }
            return SignIn(
                user: user, idToken: idToken, refreshToken: refreshToken,
                lifetime: AccountsService.lifetime(expiresIn), isNew: isNew)
        }
    }

    private struct TokenReply: Decodable {
        var id_token, refresh_token, expires_in, user_id: String?
    }

    private struct ErrorReply: Decodable {
        struct Detail: Decodable { var reason: String? }
        struct Content: Decodable {
            var message: String?
            var details: [Detail]?
        }
        var error: Content?

        /// True if the API key is restricted to other apps.
        var isOfKey: Bool {
            error?.details?.contains { $0.reason == "API_KEY_IOS_APP_BLOCKED" } ?? false
        }
    }

    private func post<T: Decodable>(_ call: String, _ body: Body) async throws(AccountError) -> T {
        try await send(.accounts, path: "v1/" + call, body: body)
    }

    func send<T: Decodable>(
        _ service: AccountsRequest.Service, path: String, body: some Encodable
    ) async throws(AccountError) -> T {
        guard let bytes = try? JSONEncoder().encode(body) else { throw .addressInvalid }
        let request = AccountsRequest(
            service, path, body: [UInt8](bytes), timeout: Self.timeout)
        let reply: AccountsReply
        do throws(AccountsUnreachable) { reply = try await transport.send(request) } catch {
            throw .unreachable(error.detail)
        }
        let data = Data(reply.body)
        if reply.status == 200 {
            guard let value = try? JSONDecoder().decode(T.self, from: data) else {
                // A captive portal answers every request with its own page.
                throw .unreachable("The answer is no JSON of an accounts server.")
            }
            return value
        }
        guard let failure = try? JSONDecoder().decode(ErrorReply.self, from: data),
            let word = failure.error?.message
        else { throw .unreachable("HTTP status \(reply.status)") }
        if failure.isOfKey { throw .keyRefused(word) }
        if reply.status >= 500 { throw .unreachable(word) }
        throw AccountError(serverWord: word)
    }

    /// Returns the lifetime in seconds: an hour if the server does not state it. Source:
    /// server-protocol 4.
    private static func lifetime(_ text: String?) -> Int64 {
        min(max(text.flatMap(Int64.init) ?? 3_600, 1), 86_400)
    }

    /// Returns the user in a token. Only the server checks the contents of the token.
    static func subject(of token: String) -> String? {
        struct Claims: Decodable { let sub: String? }
        return TokenClaims.read(Claims.self, from: token)?.sub
    }
}

/// The server's data of an account.
public struct AccountDetails: Hashable, Sendable, Decodable {
    public var localId: String?
    public var email: String?
    public var emailVerified: Bool?
    /// Milliseconds since 1970, as text.
    public var createdAt: String?
    public var lastLoginAt: String?
    public var phoneNumber: String?
    var mfaInfo: [SecondFactor]?
}
