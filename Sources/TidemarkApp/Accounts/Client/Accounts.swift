import Foundation
import Synchronization
public import Tidemark
public import TidemarkResilience

/// The user of the app: signs up, in and out, and supplies the tokens for the calls of a
/// `Firestore`.
///
/// ```swift
/// let accounts = Accounts(HTTPAccountsTransport(.local("localhost:9099")), store: store)
/// let settings = FirestoreSettings(cache: .directory(folder))
/// settings.tokenProvider = accounts
/// let firestore = try Firestore(projectID: "my-app", settings: settings)
/// accounts.attach(firestore)
/// await accounts.load()
/// ```
///
/// If a session cannot be read, the signed-in user is unknown, and nothing is deleted for that
/// reason. Thread-safe.
public final class Accounts: Sendable {
    public enum State: Hashable, Sendable {
        /// The store has not been read yet.
        case unknown
        /// The credential store cannot be read before the device is unlocked.
        case locked
        case signedOut(SignOutReason)
        case signedIn(UserID)
    }

    /// The seconds before expiry at which a token is renewed before its use.
    static let renewsBefore: Int64 = 300
    /// The minimum remaining lifetime of a token for its use, in seconds.
    static let leastLeft: Int64 = 30
    /// The maximum number of unread changes for a slow reader of ``changes``; the oldest are
    /// dropped.
    static let maxUnreadChanges = 64

    /// The policy of a refresh: 1, 2 and 4 s between attempts, and room for one late answer.
    public static let refreshPolicy = RetryPolicy(
        maxRetries: 3, initialDelay: .seconds(1), factor: 2, maximumDelay: .seconds(4),
        jitter: .equal, attemptTimeout: .seconds(20))

    /// Returns the seconds since 1970 by this device's clock.
    public static let deviceTime: @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970) }

    struct Held {
        var state = State.unknown
        var session: StoredSession?
        /// True while the engine's user changes. No token is given out then; its requests are in
        /// `waiting`.
        var isSwitching = false
        var waiting: [@Sendable () -> Void] = []
        var watchers: [Int: AsyncStream<SessionChange>.Continuation] = [:]
        var lastWatcher = 0
        weak var firestore: Firestore?
        /// An account beside the session, while a job undoes it.
        var beside: AccountsService.SignIn?
    }

    let service: AccountsService
    let store: any CredentialStore
    let installation: String
    let now: @Sendable () -> Int64
    let retry: Retry<ContinuousClock>
    let held = Mutex(Held())
    private let refreshes = SingleFlight<String, StoredSession>()
    private let changing = Serial()

    /// - Parameters:
    ///   - transport: The connection to the accounts server.
    ///   - store: The store of the session: a file, or the system's keychain.
    ///   - installation: An id that is new with every installation of the app and is stored with
    ///     its data. Credentials of another installation are ignored, because a keychain outlives
    ///     an app.
    ///   - retry: The policy for the retries of a refresh, limited to 25 s in total.
    ///   - now: Seconds since 1970.
    public convenience init(
        _ transport: any AccountsTransport, store: any CredentialStore,
        installation: String = "", retry: RetryPolicy = Accounts.refreshPolicy,
        now: @escaping @Sendable () -> Int64 = Accounts.deviceTime
    ) {
        var policy = retry
        policy.totalTimeout = min(policy.totalTimeout ?? .seconds(25), .seconds(25))
        self.init(
            transport, store: store, installation: installation, retry: Retry(policy), now: now)
    }

    /// - Parameter retry: The retries, which are used unchanged, even without a limit in real time.
    init(
        _ transport: any AccountsTransport, store: any CredentialStore, installation: String,
        retry: Retry<ContinuousClock>, now: @escaping @Sendable () -> Int64
    ) {
        service = AccountsService(transport: transport)
        self.store = store
        self.installation = installation
        self.now = now
        self.retry = retry
    }

    public var state: State { held.withLock { $0.state } }

    /// Makes the engine's user follow the signed-in user.
    public func attach(_ firestore: Firestore) { held.withLock { $0.firestore = firestore } }

    /// Every later sign-in and sign-out, in order. Each loop receives all of them.
    public var changes: AsyncStream<SessionChange> {
        let (changes, input) = AsyncStream.makeStream(
            of: SessionChange.self, bufferingPolicy: .bufferingNewest(Self.maxUnreadChanges))
        let number = held.withLock { held in
            held.lastWatcher += 1
            held.watchers[held.lastWatcher] = input
            return held.lastWatcher
        }
        input.onTermination = { [weak self] _ in
            self?.held.withLock { _ = $0.watchers.removeValue(forKey: number) }
        }
        return changes
    }

    // MARK: The session on this device

    /// Reads the stored session. Asks no server; can be repeated after ``SessionReading/locked``.
    @discardableResult
    public func load() async -> SessionReading {
        let session: StoredSession?
        do throws(CredentialStoreError) { session = try stored() } catch {
            if case .locked = error {
                held.withLock { if $0.session == nil { $0.state = .locked } }
                return .locked
            }
            return .failed
        }
        guard let session else {
            held.withLock { if $0.session == nil { $0.state = .signedOut(.nobody) } }
            return .signedOut
        }
        await changing.run { [self] in
            if held.withLock({ $0.session }) == nil { await install(session, tells: false) }
        }
        return .signedIn(user ?? session.user)
    }

    private func stored() throws(CredentialStoreError) -> StoredSession? {
        guard let bytes = try store.read(.session) else { return nil }
        guard let session = try? JSONDecoder().decode(StoredSession.self, from: Data(bytes)) else {
            throw .failed("The stored session is damaged.")
        }
        // The session is the keychain's, from before the app was removed: the data of the session
        // no longer exist, so the session is ignored.
        return session.installation == installation ? session : nil
    }

    /// True if an unfinished sign-up created the session.
    var isOfSignUp: Bool { held.withLock { $0.session?.isOfSignUp ?? false } }

    /// Signs in on this device: first writes the session to disk, then changes the engine's user,
    /// then informs the observers.
    func begin(
        _ signIn: AccountsService.SignIn, isOfSignUp: Bool = false,
        with credential: ProviderCredential? = nil
    ) async throws(AccountError) {
        // A user who signs in again in another way keeps Apple's id.
        let known = held.withLock { $0.session?.user == signIn.user ? $0.session : nil }
        let session = StoredSession(
            user: signIn.user, idToken: signIn.idToken, refreshToken: signIn.refreshToken,
            expires: now() + signIn.lifetime, installation: installation, isOfSignUp: isOfSignUp,
            appleUser: credential?.appleUser ?? known?.appleUser)
        try await changing.run { [self] () async throws(AccountError) in
            try keep(session)
            await install(session, tells: true)
        }
    }

    /// Records that the session no longer belongs to a sign-up.
    public func completeSignUp() throws(AccountError) {
        held.withLock { $0.beside = nil }
        guard var session = held.withLock({ $0.session }), session.isOfSignUp else { return }
        session.isOfSignUp = false
        try keep(session)
        held.withLock { if $0.session?.user == session.user { $0.session?.isOfSignUp = false } }
    }

    public func signOut(
        _ reason: SignOutReason, erasing: Bool
    ) async throws(AccountError) {
        try await changing.run { [self] () async throws(AccountError) in
            do throws(CredentialStoreError) { try store.write(.session, nil) } catch {
                throw .storage(error)
            }
            await remove(reason, erasing: erasing)
        }
    }

    private func keep(_ session: StoredSession) throws(AccountError) {
        guard let bytes = try? JSONEncoder().encode(session) else {
            throw .storage(.failed("The session cannot be encoded."))
        }
        do throws(CredentialStoreError) { try store.write(.session, [UInt8](bytes)) } catch {
            throw .storage(error)
        }
    }

    /// Changes the engine's user. Tokens wait for the change, because no call of the previous user
    /// may carry the token of the next.
    private func install(_ session: StoredSession, tells: Bool) async {
        let firestore = held.withLock { held in
            held.isSwitching = true
            return held.firestore
        }
        try? await firestore?.changeUser(to: session.user.text)
        finishSwitch { held in
            held.session = session
            held.state = .signedIn(session.user)
        }
        if tells { notify(.signedIn(session.user)) }
    }

    private func remove(_ reason: SignOutReason, erasing: Bool) async {
        let firestore = held.withLock { held in
            held.isSwitching = true
            return held.firestore
        }
        try? await firestore?.changeUser(to: nil, erasingPrevious: erasing)
        finishSwitch { held in
            held.session = nil
            held.beside = nil
            held.state = .signedOut(reason)
        }
        notify(.signedOut(reason))
    }

    private func finishSwitch(_ change: (inout Held) -> Void) {
        let waiting = held.withLock { held in
            change(&held)
            held.isSwitching = false
            defer { held.waiting = [] }
            return held.waiting
        }
        for proceed in waiting { proceed() }
    }

    private func notify(_ change: SessionChange) {
        let watchers = held.withLock { $0.watchers.sorted { $0.key < $1.key }.map(\.value) }
        for watcher in watchers { watcher.yield(change) }
    }
}

// MARK: - Tokens

extension Accounts: TokenProvider {
    private enum Ready {
        case token(String?)
        /// A token that is still valid, and is renewed in the background.
        case ageing(String)
        case waits
        case refresh
    }

    public func token(
        replacing refused: String?,
        receive: @escaping @Sendable (Result<String?, RPCStatus>) -> Void
    ) {
        let now = now()
        let ready = held.withLock { held -> Ready in
            if held.isSwitching {
                held.waiting.append { [weak self] in
                    guard let self else { return receive(.success(nil)) }
                    token(replacing: refused, receive: receive)
                }
                return .waits
            }
            guard let session = held.session else { return .token(nil) }
            let left = session.expires - now
            if left < Self.leastLeft || session.idToken == refused { return .refresh }
            return left < Self.renewsBefore ? .ageing(session.idToken) : .token(session.idToken)
        }
        switch ready {
        case .token(let token): receive(.success(token))
        case .ageing(let token):
            receive(.success(token))
            Task { _ = await renewed(replacing: nil) }
        case .waits: break
        case .refresh:
            Task { receive(await renewed(replacing: refused)) }
        }
    }

    private func renewed(replacing refused: String?) async -> Result<String?, RPCStatus> {
        do throws(AccountError) {
            return .success(try await renew(replacing: refused)?.idToken)
        } catch {
            let session = held.withLock { $0.session }
            // A token that will expire soon, and cannot be renewed now, is still valid.
            if case .unreachable = error, let session, session.idToken != refused,
                session.expires > now()
            {
                return .success(session.idToken)
            }
            return .failure(error.status)
        }
    }

    /// Returns a session whose token is not the refused token. Concurrent callers share a single
    /// request.
    func renew(replacing refused: String?) async throws(AccountError) -> StoredSession? {
        guard let session = held.withLock({ $0.session }) else { return nil }
        let isOld = session.expires - now() < Self.renewsBefore
        if !isOld, session.idToken != refused { return session }
        do {
            return try await refreshes.value(for: session.user.text) { [self] in
                try await refresh(session)
            }
        } catch let error as AccountError { throw error } catch {
            throw .unreachable("The refresh was cancelled.")
        }
    }

    private func refresh(_ old: StoredSession) async throws -> StoredSession {
        do {
            let service = service
            let signIn = try await retry.run(
                .idempotentWrite,
                classify: { error in
                    if case .unreachable? = error as? AccountError { return Failure(.transient) }
                    return Failure(.permanent)
                }
            ) { _ in try await service.refresh(old.refreshToken) }
            return try await store(signIn, replacing: old)
        } catch let error as RetryError {
            let reason = error.last as? AccountError ?? .unreachable("No refresh in time.")
            switch reason {
            case .sessionExpired, .accountDisabled, .accountGone:
                await changing.run { [self] in await expire(old) }
            default: break
            }
            throw reason
        }
    }

    private func store(
        _ signIn: AccountsService.SignIn, replacing old: StoredSession
    ) async throws -> StoredSession {
        guard signIn.user == old.user else {
            throw AccountError.unreachable("The token is another user's.")
        }
        var session = old
        session.idToken = signIn.idToken
        session.refreshToken = signIn.refreshToken
        session.expires = now() + signIn.lifetime
        let renewed = session
        try await changing.run { [self] in
            // Another user may have signed in during the refresh, or the user may have signed out.
            guard held.withLock({ $0.session?.refreshToken == old.refreshToken }) else {
                throw AccountError.signedOut
            }
            // A device that cannot store the session can still use it.
            try? keep(renewed)
            held.withLock { $0.session = renewed }
        }
        return renewed
    }

    /// Ends the session because the user has withdrawn the permission. The data on the device stay.
    func revoked(_ old: StoredSession) async -> Bool {
        await changing.run { [self] in
            guard let session = held.withLock({ $0.session }), session.user == old.user,
                session.appleUser == old.appleUser
            else { return false }
            try? store.write(.session, nil)
            await remove(.revoked, erasing: false)
            return true
        }
    }

    /// Ends the session because the server no longer accepts the credentials. The data on the
    /// device stay.
    private func expire(_ old: StoredSession) async {
        guard held.withLock({ $0.session?.refreshToken == old.refreshToken }) else { return }
        try? store.write(.session, nil)
        await remove(.expired, erasing: false)
    }
}
