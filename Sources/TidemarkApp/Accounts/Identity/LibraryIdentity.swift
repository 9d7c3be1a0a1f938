import Synchronization
public import Tidemark
import TidemarkResilience

/// The user of another library, such as FirebaseAuth, which keeps the session.
///
/// ```swift
/// let identity = LibraryIdentity(library)
/// let settings = StackSettings(folder: folder, projectID: "my-app", identity: identity)
/// ```
///
/// The client's user changes before observers hear of a change, and tokens wait for it. A user
/// without a name that a document could have counts as signed out. Use one identity for each
/// library. Thread-safe.
public final class LibraryIdentity: IdentityProvider {
    /// The maximum time that a token waits until the library knows its user.
    static let userTimeout = Duration.seconds(10)
    /// The maximum time of the library's call for a token.
    static let tokenTimeout = Duration.seconds(18)

    private struct Values {
        var state = Accounts.State.unknown
        weak var firestore: Firestore?
        /// True if the attached client has the user of `state`.
        var isSettled = false
        /// True if the library ended its changes before it knew its user.
        var hasFailed = false
        /// The user whose account is being deleted. The session counts until it is signed out.
        var deleted: UserID?
        /// True if the server has refused to renew the token.
        var isExpired = false
        var watchers: [Int: AsyncStream<SessionChange>.Continuation] = [:]
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var lastNumber = 0

        var user: UserID? { if case .signedIn(let user) = state { user } else { nil } }

        mutating func number() -> Int {
            lastNumber += 1
            return lastNumber
        }
    }

    private final class Box: Sendable {
        let values = Mutex(Values())
    }

    private let library: any SignInLibrary
    private let tokens: IDTokens
    private let box = Box()
    private let turns = Serial()
    private let following = Mutex<Task<Void, Never>?>(nil)

    /// Begins to follow the user of the library.
    public init(_ library: some SignInLibrary) {
        self.library = library
        tokens = IDTokens(timeout: Self.tokenTimeout) { [box] refused in
            do { return try await library.idToken(forcingRefresh: refused != nil) } catch {
                let error = library.accountError(error)
                switch error {
                case .sessionExpired, .accountDisabled, .accountGone:
                    box.values.withLock { $0.isExpired = true }
                default: break
                }
                throw error.status
            }
        }
        let changes = library.changes
        let task = Task { [weak self] in
            for await _ in changes { await self?.follow() }
            self?.fail()
        }
        following.withLock { $0 = task }
    }

    deinit { following.withLock { $0 }?.cancel() }

    public var state: Accounts.State { box.values.withLock { $0.state } }

    public var changes: AsyncStream<SessionChange> {
        let (changes, input) = AsyncStream.makeStream(
            of: SessionChange.self, bufferingPolicy: .bufferingNewest(Accounts.maxUnreadChanges))
        let number = box.values.withLock { values in
            let number = values.number()
            values.watchers[number] = input
            return number
        }
        input.onTermination = { [weak box] _ in
            Task { box?.values.withLock { _ = $0.watchers.removeValue(forKey: number) } }
        }
        return changes
    }

    /// Makes the user of a client follow the signed-in user. Tokens wait for the first change.
    public func attach(_ firestore: Firestore) {
        let isKnown = box.values.withLock { values in
            values.firestore = firestore
            values.isSettled = false
            return values.state != .unknown
        }
        if isKnown { Task { await follow() } }
    }

    @discardableResult
    public func load() async -> SessionReading {
        await settled()
        return switch state {
        case .signedIn(let user): .signedIn(user)
        case .signedOut: .signedOut
        case .unknown, .locked: .failed
        }
    }

    // MARK: The library's user

    private func follow() async {
        await turns.run { [self] in await apply(library.user.flatMap(UserID.init)) }
    }

    /// Changes the client's user, then the state, and then informs the observers.
    ///
    /// - Parameter reason: The reason of a sign-out that was requested here; nil for a change that
    ///   the library reports.
    private func apply(
        _ user: UserID?, _ reason: SignOutReason? = nil, erasing: Bool = false
    ) async {
        let (isDone, firestore) = box.values.withLock { values in
            // The job that deletes the account also ends the session.
            let waitsForJob =
                user == nil && reason == nil && values.user != nil && values.user == values.deleted
            let isSame = values.state != .unknown && values.user == user && values.isSettled
            return (waitsForJob || isSame, values.firestore)
        }
        if isDone { return }
        if let firestore {
            try? await tokens.change(to: user?.text, of: firestore, erasing: erasing)
        }
        let told = box.values.withLock { values in settle(&values, user: user, reason: reason) }
        for watcher in told.watchers { watcher.yield(told.change) }
        for waiter in told.waiting { waiter.resume() }
    }

    private func settle(
        _ values: inout Values, user: UserID?, reason: SignOutReason?
    ) -> (
        change: SessionChange, watchers: [AsyncStream<SessionChange>.Continuation],
        waiting: [CheckedContinuation<Void, Never>]
    ) {
        let wasKnown = values.state != .unknown
        let isNews = wasKnown && values.user != user
        let ended = reason ?? (values.isExpired ? .expired : wasKnown ? .asked : .nobody)
        if let user {
            values.state = .signedIn(user)
        } else if isNews || !wasKnown {
            values.state = .signedOut(ended)
        }
        values.isSettled = true
        values.isExpired = false
        values.deleted = nil
        defer { values.waiting = [:] }
        return (
            user.map { .signedIn($0) } ?? .signedOut(ended),
            isNews ? values.watchers.sorted { $0.key < $1.key }.map(\.value) : [],
            Array(values.waiting.values)
        )
    }

    private func fail() {
        let waiting = box.values.withLock { values in
            values.hasFailed = true
            defer { values.waiting = [:] }
            return values.waiting.values
        }
        for waiter in waiting { waiter.resume() }
    }

    /// Waits until the client has the library's user, or until the library cannot tell its user.
    private func settled() async {
        let number = box.values.withLock { $0.number() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = box.values.withLock { values in
                    if values.isSettled || values.hasFailed || Task.isCancelled { return true }
                    values.waiting[number] = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            box.values.withLock { $0.waiting.removeValue(forKey: number) }?.resume()
        }
    }

    // MARK: Tokens

    public func token(
        replacing refused: String?,
        receive: @escaping @Sendable (Result<String?, RPCStatus>) -> Void
    ) {
        if box.values.withLock({ $0.isSettled }) {
            return tokens.token(replacing: refused, receive: receive)
        }
        Task {
            try? await withTimeout(Self.userTimeout) { [self] in await settled() }
            guard box.values.withLock({ $0.isSettled }) else {
                return receive(.failure(RPCStatus(.unavailable, "The user is not known yet.")))
            }
            tokens.token(replacing: refused, receive: receive)
        }
    }

    // MARK: Requests of jobs

    public func signIn(_ request: SignInRequest) async throws(AccountError) -> SignedIn {
        try await inTurn { [self] in
            let (name, isNew) = try await library.signIn(request)
            guard let user = UserID(name) else {
                throw AccountError.unreachable("The answer names no user.")
            }
            request.answered()
            await apply(user)
            return SignedIn(user, isNew: isNew)
        }
    }

    public func reauthenticate(
        with credential: ProviderCredential
    ) async throws(AccountError) {
        try await inTurn { [library] in try await library.reauthenticate(with: credential) }
    }

    public func revokeApple(authorizationCode: String) async throws(AccountError) {
        try await inTurn { [library] in
            try await library.revokeApple(authorizationCode: authorizationCode)
        }
    }

    public func signInAge(of user: UserID) async throws(AccountError) -> Duration? {
        try await inTurn { [self] in
            guard self.user == user else { throw AccountError.signedOut }
            return try await library.signInAge()
        }
    }

    public func deleteAccount(of user: UserID) async throws(AccountError) {
        try await inTurn { [self] in
            guard self.user == user else { throw AccountError.signedOut }
            box.values.withLock { $0.deleted = user }
            do { try await library.deleteAccount() } catch {
                box.values.withLock { $0.deleted = nil }
                throw error
            }
        }
    }

    public func signOut(
        _ reason: SignOutReason, erasing: Bool
    ) async throws(AccountError) {
        try await inTurn { [self] in
            if library.user != nil { try await library.signOut() }
            await apply(nil, reason, erasing: erasing)
        }
    }

    /// The signed-in user: the library does not know whether a job's sign-in began the session.
    public var userOfSignUp: UserID? { user }

    /// Does nothing, because nothing of a sign-up is kept here.
    public func completeSignUp() {}

    public var endsSessionWithAccount: Bool { true }

    private func inTurn<T: Sendable>(
        _ body: @escaping @Sendable () async throws -> T
    ) async throws(AccountError) -> T {
        do { return try await turns.run(body) } catch let error as AccountError {
            throw error
        } catch is CancellationError { throw .unreachable("It was cancelled.") } catch {
            throw library.accountError(error)
        }
    }
}
