import Synchronization
import Tidemark

@testable import TidemarkApp

/// A library like FirebaseAuth: it keeps a session of its own, signs in, and ends its session when
/// it deletes the account. Its requests go to a real accounts server.
final class OtherLibrary: SignInLibrary {
    private let accounts: Accounts
    private let inputs = Mutex<[AsyncStream<Void>.Continuation]>([])
    private let following = Mutex<Task<Void, Never>?>(nil)
    /// The error of the next calls for a token; nil for none.
    let refusal = Mutex<AccountError?>(nil)

    /// - Parameter store: The library's own storage, which outlives a launch of the app.
    init(_ transport: any AccountsTransport, store: any CredentialStore = ScriptedStore()) {
        accounts = Accounts(transport, store: store)
    }

    /// Reads the library's session, as FirebaseAuth does some time after its start.
    func start() async {
        let changes = accounts.changes
        await accounts.load()
        let task = Task { [weak self] in for await _ in changes { self?.notify() } }
        following.withLock { $0 = task }
        notify()
    }

    deinit { following.withLock { $0 }?.cancel() }

    /// Ends the changes, as if the library could not read its storage.
    func fail() { for input in inputs.withLock({ $0 }) { input.finish() } }

    private func notify() { for input in inputs.withLock({ $0 }) { input.yield() } }

    /// Signs in by the library itself, as an app's own sign-in screen does.
    func signIn(email: String, _ password: String) async throws {
        _ = try await accounts.signIn(email: email, password: password)
    }

    func signUp(email: String, _ password: String) async throws -> UserID {
        try await accounts.signUp(email: email, password: password)
    }

    // MARK: SignInLibrary

    var user: String? { accounts.user?.text }

    var changes: AsyncStream<Void> {
        let (changes, input) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
        inputs.withLock { $0.append(input) }
        if accounts.state != .unknown { input.yield() }
        return changes
    }

    func idToken(forcingRefresh isForced: Bool) async throws -> String? {
        if let error = refusal.withLock({ $0 }) { throw error }
        return try await accounts.token()
    }

    func signOut() async throws { try await accounts.signOut() }

    func deleteAccount() async throws { try await accounts.deleteAccount() }

    func signInAge() async throws -> Duration? {
        guard let user = accounts.user else { throw AccountError.signedOut }
        return try await accounts.signInAge(of: user)
    }

    func signIn(_ request: SignInRequest) async throws -> (user: String, isNew: Bool) {
        let signedIn = try await accounts.signIn(
            SignInRequest(request.proof, mayCreate: request.mayCreate))
        return (signedIn.user.text, signedIn.isNew)
    }

    func accountError(_ error: any Error) -> AccountError {
        error as? AccountError ?? .unreachable("\(error)")
    }
}
