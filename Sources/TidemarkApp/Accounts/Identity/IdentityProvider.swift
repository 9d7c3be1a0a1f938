public import Tidemark

/// The source of the app's user: ``Accounts``, or another library by a ``LibraryIdentity``.
///
/// A launch, ``AccountJobs`` and a ``TidemarkStack`` work with any provider. It also provides the
/// tokens, so the calls of a user never carry the token of another user. Thread-safe.
public protocol IdentityProvider: TokenProvider {
    /// The known user. Asks no server.
    var state: Accounts.State { get }
    /// Every later sign-in and sign-out, in order. Each loop receives all of them.
    var changes: AsyncStream<SessionChange> { get }

    /// Makes the user of a client follow the signed-in user.
    func attach(_ firestore: Firestore)

    /// Reads the session on this device. Asks no server; can be repeated after
    /// ``SessionReading/locked``.
    @discardableResult
    func load() async -> SessionReading

    /// Signs in, for a job. The session is kept when the method returns.
    func signIn(_ request: SignInRequest) async throws(AccountError) -> SignedIn

    /// Proves once more that the user is the one who signed in.
    func reauthenticate(with credential: ProviderCredential) async throws(AccountError)

    /// Withdraws the user's permission at Apple, before the account is deleted.
    ///
    /// - Parameter authorizationCode: ``AppleIdentity/authorizationCode``.
    func revokeApple(authorizationCode: String) async throws(AccountError)

    /// Returns the time since the user has signed in, by the server's clock; nil if the token does
    /// not contain it. Asks the server. A server deletes only accounts with a recent sign-in.
    func signInAge(of user: UserID) async throws(AccountError) -> Duration?

    /// Deletes the account of the signed-in user at the server, and no data.
    ///
    /// - Throws: ``AccountError/signedOut`` if another user or no user is signed in.
    func deleteAccount(of user: UserID) async throws(AccountError)

    /// Ends the session on this device.
    ///
    /// - Parameters:
    ///   - reason: The reason that observers receive.
    ///   - erasing: True to delete also the user's data on this device, with unsent writes.
    func signOut(_ reason: SignOutReason, erasing: Bool) async throws(AccountError)

    /// The user of a session that ``signIn(_:)`` began and ``completeSignUp()`` has not completed;
    /// nil if the session did not begin in this way.
    var userOfSignUp: UserID? { get }

    /// Ends the sign-up: its session is like any other, and nothing else of it is kept.
    func completeSignUp() throws(AccountError)

    /// True if the session ends at once with the deletion of the account, false if it ends with
    /// ``signOut(_:erasing:)``.
    var endsSessionWithAccount: Bool { get }
}

extension IdentityProvider {
    /// The signed-in user; nil if there is none, or if the user is unknown.
    public var user: UserID? {
        if case .signedIn(let user) = state { user } else { nil }
    }

    /// Ends the session on this device at the user's request.
    ///
    /// - Parameter erasing: True to delete also the user's data on this device.
    public func signOut(erasing: Bool = false) async throws(AccountError) {
        try await signOut(.asked, erasing: erasing)
    }

    /// Returns true if the signed-in user is known, or if it is known that there is none.
    func isReadable() async -> Bool {
        switch state {
        case .signedIn, .signedOut: true
        case .unknown, .locked:
            switch await load() {
            case .signedIn, .signedOut: true
            case .locked, .failed: false
            }
        }
    }
}
