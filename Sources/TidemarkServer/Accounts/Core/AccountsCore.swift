import TidemarkModel
package import TidemarkStore

/// Makes all decisions about accounts: takes calls and returns replies. The core is synchronous and
/// runs on one thread at a time. Time, random bytes and digests come from its environment. The slow
/// password hashes are made outside the core.
///
/// A call takes two steps. ``prepare(_:)`` returns the password hash that the call needs, and
/// refuses the call if it can be refused without the hash. ``perform(_:_:)`` decides on the current
/// accounts, in one transaction. The transaction is synced to disk before the reply is returned.
package final class AccountsCore {
    package let settings: AccountsSettings
    let environment: AccountsEnvironment
    let store: DocumentStore
    var limiter = AttemptLimiter()
    /// The changes since the last ``takeChangedAccounts()``.
    private var changed = ChangedAccounts()
    private var voided = VoidedTokens()
    /// The mark of the last transaction.
    private var lastMark: Int64 = 0

    /// - Parameter dataDirectory: The folder of the file; nil keeps the accounts in memory.
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

    /// - Returns: The hash that must be made before the call is performed; nil if the call needs
    ///   none.
    package func prepare(_ call: AccountCall) throws(AccountRefusal) -> PasswordWork? {
        try admit(call)
        return try inTransaction(isRead: true, call) { try PasswordCalls(turn: $0).passwordWork() }
    }

    /// - Parameter key: The result of the requested hash.
    /// - Returns: The reply. A reply with a ``AccountReply/question`` has changed nothing: add the
    ///   function's answer to the call, and perform the call again.
    package func perform(
        _ call: AccountCall, _ key: PasswordKey? = nil
    ) throws(AccountRefusal) -> AccountReply {
        if call.method.isForAdmins, !call.isAdmin { throw .insufficientPermission }
        // The call removes the session that names the account.
        let factor = call.method == .finishFactorSignIn ? try factorKey(call) : nil
        let reply: AccountReply
        do {
            reply = try attempt(isRead: call.method.isRead, call) { turn throws in
                turn.key = key
                var reply = try turn.answer()
                reply.mark = turn.mark
                return reply
            }
        } catch let question as BlockingQuestion {
            return AccountReply(question: question)
        } catch { throw Self.refusal(for: error) }
        if let refusal = reply.refusal { throw refusal }
        settle(call, factor: factor)
        return reply
    }

    func inTransaction<T>(
        isRead: Bool, _ call: AccountCall, _ body: (inout AccountTurn) throws -> T
    ) throws(AccountRefusal) -> T {
        do { return try attempt(isRead: isRead, call, body) } catch {
            throw Self.refusal(for: error)
        }
    }

    private static func refusal(for error: any Error) -> AccountRefusal {
        if let refusal = error as? AccountRefusal { return refusal }
        let message = (error as? StoreError)?.message ?? "\(error)"
        return AccountRefusal("UNAVAILABLE : \(message)", status: 503)
    }

    private func attempt<T>(
        isRead: Bool, _ call: AccountCall, _ body: (inout AccountTurn) throws -> T
    ) throws -> T {
        lastMark = max(lastMark + 1, environment.now().microseconds)
        let changes = AccountChanges(mark: lastMark)
        let voided = voided
        func run(_ transaction: StoreTransaction) throws -> T {
            var turn = AccountTurn(
                call, settings: settings, environment: environment, transaction: transaction,
                changes: changes, voided: voided)
            return try body(&turn)
        }
        if isRead { return try store.read(run) }
        let result = try store.write(.disk, run)
        changed.add(changes.changed)
        self.voided.add(changes.voided)
        return result
    }

    // MARK: Tokens

    /// Notes a token that was signed for a reply, before its caller is told.
    ///
    /// - Parameter mark: The reply's.
    package func noteIssue(of token: TokenFacts, mark: Int64) {
        voided.noteIssue(of: token, mark: mark)
    }

    /// Returns the accounts that have changed since the last call. Their tokens can be invalid now.
    package func takeChangedAccounts() -> ChangedAccounts {
        defer { changed = ChangedAccounts() }
        return changed
    }

    /// Checks that a token is valid for calls to Firestore: its account exists and is not disabled,
    /// and the token has not expired and was not revoked.
    package func check(_ token: TokenFacts) throws(AccountRefusal) {
        let call = AccountCall(
            .lookup, project: token.project, tenant: token.tenant, fields: AccountFields([:]))
        try inTransaction(isRead: true, call) { turn in
            turn.call.token = token
            _ = try turn.user()
        }
    }

    /// Returns the keys that sign tokens, newest first.
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
    /// Counts an attempt before any slow work, because concurrent attempts must be counted too.
    private func admit(_ call: AccountCall) throws(AccountRefusal) {
        if call.method.isForAdmins, !call.isAdmin { throw .insufficientPermission }
        guard settings.mode == .secure, !call.isAdmin else { return }
        let limits = settings.limits
        switch call.method {
        case .signInWithPassword, .signInWithEmailLink, .resetPassword, .signInWithPhoneNumber:
            try takeAttempt(call)
        case .update where call.fields.has("oobCode"): try takeAttempt(call)
        case .finishFactorSignIn, .finishFactorEnrolment:
            try takeAttempt(call)
            if let key = try factorKey(call), !limiter.take(key, limits.account, now: uptime) {
                throw .tooManyAttempts
            }
        case .signUp where !call.fields.has("idToken"):
            guard limiter.take("new " + call.address, limits.signUp, now: uptime) else {
                throw .tooManyAttempts
            }
        case .sendOobCode:
            // The field with the address can be missing or invalid if the call has a token.
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

    /// Counts an attempt for the account, from any address, and for the address, on any account.
    private func takeAttempt(_ call: AccountCall) throws(AccountRefusal) {
        guard limiter.take(Self.addressKey(call), settings.limits.address, now: uptime) else {
            throw .tooManyAttempts
        }
        guard let email = try call.fields.email() else { return }
        guard
            limiter.take(Self.accountKey(call, email), settings.limits.account, now: uptime)
        else { throw .tooManyAttempts }
    }

    /// Returns the attempt after a correct password or code. After a wrong one, the call has thrown
    /// before this point.
    ///
    /// - Parameter factor: The key of the attempts at the account's second factor; nil for none.
    private func settle(_ call: AccountCall, factor: String?) {
        guard settings.mode == .secure, !call.isAdmin else { return }
        switch call.method {
        case .signInWithPassword, .signInWithEmailLink, .resetPassword, .signInWithPhoneNumber:
            break
        case .update where call.fields.has("oobCode"): break
        case .finishFactorSignIn, .finishFactorEnrolment: break
        default: return
        }
        limiter.giveBack(Self.addressKey(call), settings.limits.address, now: uptime)
        if let factor { limiter.giveBack(factor, settings.limits.account, now: uptime) }
        guard let email = try? call.fields.email() else { return }
        limiter.giveBack(Self.accountKey(call, email), settings.limits.account, now: uptime)
    }

    /// Returns the key of the attempts at an account's second factor, from any address and over all
    /// its sign-ins; nil if the call is for no account.
    private func factorKey(_ call: AccountCall) throws(AccountRefusal) -> String? {
        let row = try inTransaction(isRead: true, call) { try FactorCalls(turn: $0).accountRow() }
        return row.map { "factor \($0)" }
    }

    private static func addressKey(_ call: AccountCall) -> String { "from " + call.address }

    private static func accountKey(_ call: AccountCall, _ email: String) -> String {
        "to \(call.pool.name) \(email)"
    }
}
