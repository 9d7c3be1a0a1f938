import Synchronization

// The ways to sign in. Each is a single request. The session is on disk before observers receive
// it.

extension Accounts {
    /// Creates an account and signs in to it. If no answer arrives, the account may or may not
    /// exist: use ``AccountJobs`` for a sign-up that must survive that.
    @discardableResult
    public func signUp(email: String, password: String) async throws(AccountError) -> UserID {
        try await begun(try await service.signUp(email: email, password: password))
    }

    @discardableResult
    public func signIn(email: String, password: String) async throws(AccountError) -> UserID {
        try await begun(try await service.signIn(email: email, password: password))
    }

    /// Creates an account without a name, of the server's own kind. If the answer is lost, the
    /// account cannot be found again; a sign-up by ``AccountJobs`` uses
    /// ``AccountRecord/Method/installation(address:)``.
    @discardableResult
    public func signInAnonymously() async throws(AccountError) -> UserID {
        try await begun(try await service.signUp(email: nil, password: nil))
    }

    @discardableResult
    public func signIn(customToken: String) async throws(AccountError) -> UserID {
        try await begun(try await service.signIn(customToken: customToken))
    }

    /// Signs in with the identity of Apple, Google or another provider.
    @discardableResult
    public func signIn(with credential: ProviderCredential) async throws(AccountError) -> UserID {
        try await begun(try await service.signIn(with: credential), with: credential)
    }

    /// Gives the account an address and a password. An account without a name keeps its id and its
    /// data.
    public func link(email: String, password: String) async throws(AccountError) {
        let session = try await current()
        let signIn = try await service.update(session.idToken, email: email, password: password)
        if let signIn { _ = try await begun(signIn, as: session.user) }
    }

    /// Adds a provider's identity to the account.
    public func link(with credential: ProviderCredential) async throws(AccountError) {
        let session = try await current()
        let signIn = try await service.signIn(with: credential, linkingTo: session.idToken)
        _ = try await begun(signIn, as: session.user, with: credential)
    }

    /// Repeats the proof of the user's identity, for requests that the server executes only then,
    /// such as deleting the account.
    public func reauthenticate(password: String) async throws(AccountError) {
        let session = try await current()
        guard let email = try await service.lookUp(session.idToken).email else {
            throw .wrongCredentials
        }
        let signIn = try await service.signIn(email: email, password: password)
        _ = try await begun(signIn, as: session.user)
    }

    public func reauthenticate(with credential: ProviderCredential) async throws(AccountError) {
        let session = try await current()
        _ = try await begun(
            try await service.signIn(with: credential), as: session.user, with: credential)
    }

    /// Returns the server's data of the account.
    public func details() async throws(AccountError) -> AccountDetails {
        try await service.lookUp(try await current().idToken)
    }

    /// Deletes only the account. ``AccountJobs/deleteAccount()`` also deletes the profile.
    public func deleteAccount() async throws(AccountError) {
        let session = try await current()
        do throws(AccountError) { try await service.delete(session.idToken) } catch {
            // The account no longer exists.
            if error != .accountGone { throw error }
        }
        try await signOut(.removed, erasing: false)
    }

    /// Returns the session, with a valid token.
    func current() async throws(AccountError) -> StoredSession {
        guard let session = try await renew(replacing: nil) else { throw .signedOut }
        return session
    }

    private func begun(
        _ signIn: AccountsService.SignIn, as user: UserID? = nil,
        with credential: ProviderCredential? = nil
    ) async throws(AccountError) -> UserID {
        if let user, user != signIn.user { throw .wrongCredentials }
        try await begin(signIn, with: credential)
        return signIn.user
    }
}

// Apple's requirements for apps with *Sign in with Apple*, beyond the sign-in.

extension Accounts {
    /// Ends the session if the user has withdrawn the app's permission in the device's settings, or
    /// if the device does not know the credential. Ends only a session that began with Apple.
    ///
    /// Data on the device are not deleted. While the system cannot tell, nothing happens. A
    /// ``TidemarkStack`` with ``StackSettings/appleCredentials`` calls this method at a launch,
    /// when the app becomes active, and when the system reports a withdrawal.
    ///
    /// - Returns: True if the session has ended.
    @discardableResult
    public func checkApple(_ credentials: any AppleCredentials) async -> Bool {
        guard let session = held.withLock({ $0.session }), let apple = session.appleUser else {
            return false
        }
        switch await credentials.state(of: apple) {
        case .revoked, .notFound: return await revoked(session)
        case nil, .authorized, .transferred: return false
        }
    }

    /// Tells Apple that the app no longer needs the user's permission, which Apple requires of apps
    /// that delete an account. Call it before the account is deleted;
    /// ``AccountJobs/deleteAccount(confirmedBy:)`` does.
    ///
    /// - Parameter authorizationCode: ``AppleIdentity/authorizationCode``, at most five minutes
    ///   old.
    public func revokeApple(authorizationCode: String) async throws(AccountError) {
        try await service.revokeApple(authorizationCode, try await current().idToken)
    }
}

// The requests of jobs to this library's own accounts.

extension Accounts: IdentityProvider {
    public func signIn(_ request: SignInRequest) async throws(AccountError) -> SignedIn {
        let answer = try await answer(to: request)
        request.answered()
        let current = user
        if request.mayCreate || current == nil || current == answer.user {
            // A user who proves the identity once more keeps the kind of the session.
            let isOfSignUp = request.mayCreate || current == nil || userOfSignUp != nil
            try await begin(
                answer, isOfSignUp: isOfSignUp, with: request.proof.credential)
        } else {
            // The account is removed beside the session of another user.
            held.withLock { $0.beside = answer }
        }
        return SignedIn(answer.user, isNew: answer.isNew)
    }

    private func answer(
        to request: SignInRequest
    ) async throws(AccountError) -> AccountsService.SignIn {
        switch request.proof {
        case .password(let address, let password):
            guard request.mayCreate else {
                return try await service.signIn(email: address, password: password)
            }
            do throws(AccountError) {
                return try await service.signUp(email: address, password: password)
            } catch {
                // The address may be taken by this same request, whose answer was lost.
                guard error == .addressTaken else { throw error }
                return try await service.signIn(email: address, password: password)
            }
        case .provider(let credential): return try await service.signIn(with: credential)
        case .customToken(let token): return try await service.signIn(customToken: token)
        }
    }

    public func signInAge(of user: UserID) async throws(AccountError) -> Duration? {
        guard self.user == user else { throw .signedOut }
        // A new token contains the server's time; this device's clock has no influence.
        let session = try await renew(replacing: held.withLock { $0.session?.idToken })
        return session.flatMap { Self.signInAge($0.idToken) }
    }

    /// Returns the time from the sign-in to the creation of the token.
    static func signInAge(_ token: String) -> Duration? {
        struct Claims: Decodable { let iat, auth_time: Int64 }
        guard let claims = TokenClaims.read(Claims.self, from: token) else { return nil }
        return .seconds(claims.iat - claims.auth_time)
    }

    public func deleteAccount(of user: UserID) async throws(AccountError) {
        if let beside = held.withLock({ $0.beside }), beside.user == user {
            try await service.delete(beside.idToken)
            held.withLock { if $0.beside?.user == user { $0.beside = nil } }
            return
        }
        guard self.user == user, let token = try await renew(replacing: nil)?.idToken else {
            throw .signedOut
        }
        try await service.delete(token)
    }

    public var userOfSignUp: UserID? {
        held.withLock { $0.session.flatMap { $0.isOfSignUp ? $0.user : nil } }
    }

    public var endsSessionWithAccount: Bool { false }
}

extension SignInRequest.Proof {
    var credential: ProviderCredential? {
        if case .provider(let credential) = self { credential } else { nil }
    }
}
