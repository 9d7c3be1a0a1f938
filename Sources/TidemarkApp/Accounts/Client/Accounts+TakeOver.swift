// A session of Firebase Auth becomes this library's, so that nobody is signed out by an update.

extension Accounts {
    /// Takes over a session that another library has made of the same project: FirebaseAuth's.
    ///
    /// Asks no server: the person is signed in at once, offline too, and the first call that needs a token
    /// asks for one. A refresh token that the server takes no more ends the session as any other would.
    /// What this device knows wins: while somebody is signed in here, nothing is taken over. Sign out of
    /// both libraries, or the other one's session comes back at the next launch.
    ///
    /// - Returns: Whether the session is the one that was taken over.
    /// - Throws: ``AccountError/storage(_:)`` when the credentials cannot be read or written: nothing has
    ///   changed then.
    @discardableResult
    public func takeOver(
        _ user: UserID, refreshToken: String
    ) async throws(AccountError) -> Bool {
        // Who has signed out, or whom the server has, since this app began stays out.
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
