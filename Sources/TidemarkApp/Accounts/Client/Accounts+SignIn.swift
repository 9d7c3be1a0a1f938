import Synchronization

// Ways to sign in. Each is one request; on disk before anybody is told.

extension Accounts {
    /// Makes an account and signs in to it. When no answer comes, nobody knows whether there is one: a
    /// sign-up that has to survive that is an ``AccountJobs``'.
    @discardableResult
    public func signUp(email: String, password: String) async throws(AccountError) -> UserID {
        try await begun(try await service.signUp(email: email, password: password))
    }

    @discardableResult
    public func signIn(email: String, password: String) async throws(AccountError) -> UserID {
        try await begun(try await service.signIn(email: email, password: password))
    }

    /// An account without a name, of the server's own kind. It cannot be found again when the answer
    /// that made it is lost; a sign-up by ``AccountJobs`` uses
    /// ``AccountRecord/Method/installation(address:)``.
    @discardableResult
    public func signInAnonymously() async throws(AccountError) -> UserID {
        try await begun(try await service.signUp(email: nil, password: nil))
    }

    @discardableResult
    public func signIn(customToken: String) async throws(AccountError) -> UserID {
        try await begun(try await service.signIn(customToken: customToken))
    }

    /// Apple, Google and others.
    @discardableResult
    public func signIn(with credential: ProviderCredential) async throws(AccountError) -> UserID {
        try await begun(try await service.signIn(with: credential), with: credential)
    }

    /// Gives the account an address and a password; one without a name becomes a person's, and keeps
    /// its id and its data.
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

    /// Shows anew who the person is, for what the server does only then: deleting the account.
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

    /// What the server knows of the account.
    public func details() async throws(AccountError) -> AccountDetails {
        try await service.lookUp(try await current().idToken)
    }

    /// Deletes the account alone. ``AccountJobs/deleteAccount()`` deletes the profile with it.
    public func deleteAccount() async throws(AccountError) {
        let session = try await current()
        do throws(AccountError) { try await service.delete(session.idToken) } catch {
            // One that is gone already.
            if error != .accountGone { throw error }
        }
        try await end(.removed)
    }

    /// The session, with a token that is good.
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

// What Apple asks of apps with Sign in with Apple, beyond the sign-in.

extension Accounts {
    /// Ends the session when the person has taken back, in the device's settings, what they had allowed the
    /// app, or when the device knows nothing of it. Only of a session that was begun with Apple.
    ///
    /// Nothing that the device holds is deleted. While the system cannot say, nothing happens. A
    /// ``TidemarkStack`` with ``StackSettings/appleCredentials`` calls it at a launch, when the app comes
    /// forward, and when the system tells it.
    ///
    /// - Returns: Whether the session has ended.
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

    /// Tells Apple that the app needs nothing more of the person, as it asks of apps that delete an
    /// account. Call it before the account is deleted; ``AccountJobs/deleteAccount(confirmedBy:)`` does.
    ///
    /// - Parameter authorizationCode: ``AppleIdentity/authorizationCode``, at most five minutes old.
    public func revokeApple(authorizationCode: String) async throws(AccountError) {
        try await service.revokeApple(authorizationCode, try await current().idToken)
    }
}
