public import Observation
public import TidemarkApp

/// Signs a user in with an e-mail address and a password, for an app whose screens need a user.
@MainActor @Observable
public final class SignInModel {
    public enum State: Hashable, Sendable {
        /// The session is being read from this device.
        case opening
        case signedOut
        /// The server is being asked.
        case asking
        case signedIn(UserID)
    }

    public private(set) var state = State.opening
    /// The reason why nobody is signed in, as a sentence for the user; nil for none.
    public private(set) var problem: String?
    /// True if the session could not be read: ``tryAgain()`` reads it again.
    public private(set) var isUnreadable = false

    @ObservationIgnored private let stack: TidemarkStack
    @ObservationIgnored private var watching: Task<Void, Never>?

    /// Reads the session, and follows every later sign-in and sign-out.
    ///
    /// - Parameter stack: The app's data, with accounts of this library.
    public init(_ stack: TidemarkStack) {
        self.stack = stack
        let (identity, changes) = (stack.identity, stack.identity.changes)
        watching = Task { [weak self] in
            let reading = await identity.load()
            self?.show(reading)
            for await change in changes { self?.show(change) }
        }
    }

    deinit { watching?.cancel() }

    public func signIn(email: String, password: String) async {
        await act { accounts async throws(AccountError) in
            try await accounts.signIn(email: email, password: password)
        }
    }

    /// Creates an account, and signs in.
    public func signUp(email: String, password: String) async {
        await act { accounts async throws(AccountError) in
            try await accounts.signUp(email: email, password: password)
        }
    }

    /// Ends the session on this device. The user's data stays on the device.
    public func signOut() async { try? await stack.identity.signOut() }

    /// Reads the session again after a failure.
    public func tryAgain() async {
        guard isUnreadable else { return }
        state = .opening
        show(await stack.identity.load())
    }

    private func act(_ body: (Accounts) async throws(AccountError) -> UserID) async {
        guard let accounts = stack.accounts, state == .signedOut else { return }
        (state, problem) = (.asking, nil)
        do throws(AccountError) { state = .signedIn(try await body(accounts)) } catch {
            (state, problem) = (.signedOut, error.message)
        }
    }

    private func show(_ reading: SessionReading) {
        isUnreadable = false
        switch reading {
        case .signedIn(let user): (state, problem) = (.signedIn(user), nil)
        case .signedOut: state = .signedOut
        case .locked: fail(.locked)
        case .failed: fail(.sessionUnreadable)
        }
    }

    private func fail(_ problem: LaunchProblem) {
        (state, self.problem, isUnreadable) = (.signedOut, problem.message, true)
    }

    private func show(_ change: SessionChange) {
        switch change {
        case .signedIn(let user): (state, problem) = (.signedIn(user), nil)
        case .signedOut(.asked), .signedOut(.nobody):
            if state != .asking { (state, problem) = (.signedOut, nil) }
        case .signedOut:
            (state, problem) = (.signedOut, LaunchProblem.sessionEnded.message)
        }
    }
}
