import TidemarkModel
package import TidemarkStore

/// What is decided about accounts: calls in, replies out. Synchronous, in one thread at a time;
/// time, chance and digests come from its environment, and a password's slow key from outside.
///
/// A call is taken in two steps. ``prepare(_:)`` says whether a key must be made of a password first,
/// and refuses what can be refused without; ``perform(_:_:)`` decides, on the accounts as they are by
/// then, in one transaction that is synced to disk before the reply is there.
package final class AccountsCore {
    package let settings: AccountsSettings
    let environment: AccountsEnvironment
    let store: DocumentStore
    var limiter = AttemptLimiter()
    /// What has changed since somebody took it.
    private var changed = ChangedAccounts()

    /// - Parameter dataDirectory: Where the file is; nil for memory.
    package init(
        _ settings: AccountsSettings, dataDirectory: String?, environment: AccountsEnvironment
    ) throws(StoreError) {
        self.settings = settings
        self.environment = environment
        let path = dataDirectory.map { $0 + "/tidemark-accounts.sqlite" }
        if let path { try PrivateFile.make(path) }
        let location = path.map(DocumentStore.Location.file) ?? .memory
        store = try DocumentStore(location, migrations: AccountsSchema.migrations)
    }

    package func close() { try? store.close() }

    var uptime: Duration { .microseconds(environment.now().microseconds) }

    // MARK: Calls

    /// - Returns: The key to be made before the call can be performed; nil for none.
    package func prepare(_ call: AccountCall) throws(AccountRefusal) -> PasswordWork? {
        try admit(call)
        return try inTransaction(isRead: true, call) { try PasswordCalls(turn: $0).passwordWork() }
    }

    /// - Parameter key: What became of the work that was asked for.
    package func perform(
        _ call: AccountCall, _ key: PasswordKey? = nil
    ) throws(AccountRefusal) -> AccountReply {
        if call.method.isForAdmins, !call.isAdmin { throw .insufficientPermission }
        let reply = try inTransaction(isRead: call.method.isRead, call) { turn throws in
            turn.key = key
            return try turn.answer()
        }
        if let refusal = reply.refusal { throw refusal }
        settle(call)
        return reply
    }

    func inTransaction<T>(
        isRead: Bool, _ call: AccountCall, _ body: (inout AccountTurn) throws -> T
    ) throws(AccountRefusal) -> T {
        let changes = AccountChanges()
        func run(_ transaction: StoreTransaction) throws -> T {
            var turn = AccountTurn(call, settings, environment, transaction, changes)
            return try body(&turn)
        }
        do {
            if isRead { return try store.read(run) }
            let result = try store.write(.disk, run)
            changed.add(changes.changed)
            return result
        } catch let refusal as AccountRefusal {
            throw refusal
        } catch {
            let message = (error as? StoreError)?.message ?? "\(error)"
            throw AccountRefusal("UNAVAILABLE : \(message)", status: 503)
        }
    }

    // MARK: Tokens

    /// The accounts that have changed since the last time this was asked: their tokens may be good no
    /// more.
    package func takeChangedAccounts() -> ChangedAccounts {
        defer { changed = ChangedAccounts() }
        return changed
    }

    /// Whether a token is good for calls to Firestore: its account is there, is not disabled, and has
    /// not had its tokens revoked since.
    package func check(_ token: TokenFacts) throws(AccountRefusal) {
        let call = AccountCall(.lookup, project: token.project, fields: AccountFields([:]))
        try inTransaction(isRead: true, call) { turn in
            turn.call.token = token
            _ = try turn.user()
        }
    }

    /// The keys that tokens are signed with, the newest first.
    package func signingKeys() throws(StoreError) -> [SigningKeyRecord] {
        do {
            return try store.read { try SigningKeyTable(transaction: $0).all() }
        } catch { throw error as? StoreError ?? .unreadable(detail: "\(error)") }
    }

    package func addSigningKey(_ key: SigningKeyRecord) throws(StoreError) {
        do {
            try store.write(.disk) { try SigningKeyTable(transaction: $0).insert(key) }
        } catch { throw error as? StoreError ?? .unreadable(detail: "\(error)") }
    }
}

// MARK: - Limits

extension AccountsCore {
    /// Counts an attempt before anything slow is done for it, so that many at once are counted too.
    private func admit(_ call: AccountCall) throws(AccountRefusal) {
        if call.method.isForAdmins, !call.isAdmin { throw .insufficientPermission }
        guard settings.mode == .secure, !call.isAdmin else { return }
        let limits = settings.limits
        switch call.method {
        case .signInWithPassword, .signInWithEmailLink, .resetPassword, .signInWithPhoneNumber:
            try takeAttempt(call)
        case .update where call.fields.has("oobCode"): try takeAttempt(call)
        case .signUp where !call.fields.has("idToken"):
            guard limiter.take("new " + call.address, limits.signUp, now: uptime) else {
                throw .tooManyAttempts
            }
        case .sendOobCode:
            // Beside a token the address may say nothing, and need not be one.
            var email = (try? call.fields.email()) ?? call.token?.localID
            if email == nil { email = try call.fields.email() }
            guard limiter.take("code " + (email ?? ""), limits.code, now: uptime),
                limiter.take(Self.addressKey(call), limits.address, now: uptime)
            else { throw AccountRefusal("RESET_PASSWORD_EXCEED_LIMIT") }
        case .sendVerificationCode:
            let number = try call.fields.phoneNumber() ?? ""
            guard limiter.take("code " + number, limits.code, now: uptime),
                limiter.take(Self.addressKey(call), limits.address, now: uptime)
            else { throw .tooManyAttempts }
        case .createAuthUri, .signInWithIdp, .signInWithCustomToken, .refresh:
            guard limiter.allows(Self.addressKey(call), limits.address, now: uptime) else {
                throw .tooManyAttempts
            }
        default: break
        }
    }

    /// By the account, whoever tries, and by the address, whatever the account.
    private func takeAttempt(_ call: AccountCall) throws(AccountRefusal) {
        guard limiter.take(Self.addressKey(call), settings.limits.address, now: uptime) else {
            throw .tooManyAttempts
        }
        guard let email = try call.fields.email() else { return }
        guard
            limiter.take(Self.accountKey(call, email), settings.limits.account, now: uptime)
        else { throw .tooManyAttempts }
    }

    /// A right password gives its attempt back; a wrong one has thrown and does not come here.
    private func settle(_ call: AccountCall) {
        guard settings.mode == .secure, !call.isAdmin else { return }
        switch call.method {
        case .signInWithPassword, .signInWithEmailLink, .resetPassword, .signInWithPhoneNumber:
            break
        case .update where call.fields.has("oobCode"): break
        default: return
        }
        limiter.giveBack(Self.addressKey(call), settings.limits.address, now: uptime)
        guard let email = try? call.fields.email() else { return }
        limiter.giveBack(Self.accountKey(call, email), settings.limits.account, now: uptime)
    }

    private static func addressKey(_ call: AccountCall) -> String { "from " + call.address }

    private static func accountKey(_ call: AccountCall, _ email: String) -> String {
        "to \(call.project) \(email)"
    }
}
