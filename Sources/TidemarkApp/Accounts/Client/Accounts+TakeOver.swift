// Takes over a session of Firebase Auth, so an update signs out no user.

extension Accounts {
    /// Takes over a session that another library, FirebaseAuth, has created for the same project.
    ///
    /// Asks no server: the user is signed in immediately, also offline, and the first call that
    /// needs a token requests it. If the server refuses the refresh token, the session ends like
    /// any other. This library's state has priority: while a user is signed in here, nothing is
    /// taken over. Sign out of both libraries, or the other library's session returns at the next
    /// launch.
    ///
    /// - Returns: True if the session is the one that was taken over.
    /// - Throws: ``AccountError/storage(_:)`` if the credentials cannot be read or written. Nothing
    ///   has changed then.
    @discardableResult
    public func takeOver(
        _ user: UserID, refreshToken: String
    ) async throws(AccountError) -> Bool {
        // A user who signed out since this app started, or whom the server signed out, stays signed
        // out.
        if case .signedOut(let reason) = state, reason != .nobody { return false }
        switch await load() {
        case .signedIn: return false
        case .locked: throw .storage(.locked)
        case .failed: throw .storage(.failed("The stored session cannot be read."))
        case .signedOut: break
        }
        guard !refreshToken.isEmpty else { throw .sessionExpired }
        try await begin(
            AccountsService.SignIn(
                user: user, idToken: "", refreshToken: refreshToken, lifetime: 0, isNew: false))
        return true
    }
}
