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
        try await end(.removed)
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
