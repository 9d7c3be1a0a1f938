/// The calls of another library that signs users in, for a ``LibraryIdentity``.
///
/// For FirebaseAuth, copy `FirebaseLibrary.swift` of `Examples/FirebaseAuth`. The methods throw the
/// library's own errors, and ``accountError(_:)`` translates them.
public protocol SignInLibrary: Sendable {
    /// The id of the signed-in user; nil if there is none.
    var user: String? { get }
    /// An element when the library knows its user, and after each change of the user.
    var changes: AsyncStream<Void> { get }

    /// Returns a token of the signed-in user; nil if there is no user.
    ///
    /// - Parameter isForced: True if the server has refused the present token.
    func idToken(forcingRefresh isForced: Bool) async throws -> String?

    /// Ends the session on this device.
    func signOut() async throws

    /// Deletes the account of the signed-in user at the server. The library ends its session.
    func deleteAccount() async throws

    /// Returns the time from the sign-in to the creation of a new token; nil if unknown.
    func signInAge() async throws -> Duration?

    /// Signs in, or creates an account if there is none and ``SignInRequest/mayCreate`` allows it.
    /// The default throws: the app signs its users in with the library itself.
    func signIn(_ request: SignInRequest) async throws -> (user: String, isNew: Bool)

    /// Proves once more that the user is the one who signed in. The default throws.
    func reauthenticate(with credential: ProviderCredential) async throws

    /// Withdraws the user's permission at Apple. The default throws.
    func revokeApple(authorizationCode: String) async throws

    /// Returns the meaning of an error that one of the methods threw.
    func accountError(_ error: any Error) -> AccountError
}

extension SignInLibrary {
    public func signIn(_ request: SignInRequest) async throws -> (user: String, isNew: Bool) {
        throw AccountError.notAllowed
    }

    public func reauthenticate(with credential: ProviderCredential) async throws {
        throw AccountError.notAllowed
    }

    public func revokeApple(authorizationCode: String) async throws {
        throw AccountError.notAllowed
    }
}
