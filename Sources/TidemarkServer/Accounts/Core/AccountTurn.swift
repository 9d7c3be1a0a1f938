import TidemarkModel
import TidemarkStore

/// The context of one call in one transaction, and the operations that several groups of calls
/// share. Each group is a separate type: see ``AccountCalls``.
struct AccountTurn {
    var call: AccountCall
    let settings: AccountsSettings
    let environment: AccountsEnvironment
    let transaction: StoreTransaction
    /// The hash of the call's password; nil if the call needs none.
    var key: PasswordKey?
    /// The current time, in milliseconds since 1970.
    let now: Int64
    private let changes: AccountChanges
    private let voided: VoidedTokens

    init(
        _ call: AccountCall, settings: AccountsSettings, environment: AccountsEnvironment,
        transaction: StoreTransaction, changes: AccountChanges, voided: VoidedTokens
    ) {
        self.changes = changes
        self.voided = voided
        self.call = call
        self.settings = settings
        self.environment = environment
        self.transaction = transaction
        now = environment.now().microseconds / 1_000
    }

    var fields: AccountFields { call.fields }
    var seconds: Int64 { now / 1_000 }
    /// The turn's place in the order of all.
    var mark: Int64 { changes.mark }
    var isSecure: Bool { settings.mode == .secure }
    var accounts: AccountTable {
        AccountTable(pool: call.pool, transaction: transaction, changes: changes)
    }
    var sessions: SessionTable { SessionTable(transaction: transaction) }
    var codes: OneTimeCodeTable {
        OneTimeCodeTable(project: call.pool.name, transaction: transaction)
    }

    func answer() throws -> AccountReply {
        try TenantCalls(turn: self).settingsOfCall()?.admit(call)
        return switch call.method {
        case .signUp: try SignUpCalls(turn: self).signUp()
        case .signInWithPassword: try PasswordCalls(turn: self).signInWithPassword()
        case .signInWithCustomToken: try SignUpCalls(turn: self).signInWithCustomToken()
        case .signInWithIdp: try ProviderSignIn(turn: self).signInWithProvider()
        case .signInWithEmailLink: try SignUpCalls(turn: self).signInWithEmailLink()
        case .lookup: try OwnAccount(turn: self).lookup()
        case .update: try OwnAccount(turn: self).update()
        case .delete: try OwnAccount(turn: self).delete()
        case .refresh: try TokenCalls(turn: self).refresh()
        case .revokeToken: try TokenCalls(turn: self).revoke()
        case .sendOobCode: try CodeCalls(turn: self).sendCode()
        case .resetPassword: try CodeCalls(turn: self).resetPassword()
        case .createAuthUri: try ProviderSignIn(turn: self).signInMethods()
        case .createSessionCookie: try TokenCalls(turn: self).createSessionCookie()
        case .sendVerificationCode: try PhoneCalls(turn: self).sendCode()
        case .signInWithPhoneNumber: try PhoneCalls(turn: self).signIn()
        case .beginFactorEnrolment: try FactorCalls(turn: self).beginEnrolment()
        case .finishFactorEnrolment: try FactorCalls(turn: self).finishEnrolment()
        case .withdrawFactor: try FactorCalls(turn: self).withdraw()
        case .beginFactorSignIn: try FactorCalls(turn: self).beginSignIn()
        case .finishFactorSignIn: try FactorCalls(turn: self).finishSignIn()
        default: try answerAdministrator()
        }
    }

    private func answerAdministrator() throws -> AccountReply {
        switch call.method {
        case .create: try AccountBatches(turn: self).create()
        case .batchGet: try AccountLists(turn: self).page()
        case .batchCreate: try AccountBatches(turn: self).importAll()
        case .batchDelete: try AccountBatches(turn: self).deleteAll()
        case .query: try AccountLists(turn: self).query()
        case .clearAccounts: try AccountLists(turn: self).clear()
        case .getConfig: AccountReply(try configuration().json)
        case .updateConfig: try AccountLists(turn: self).updateConfiguration()
        case .listOobCodes: try CodeCalls(turn: self).listCodes()
        case .listVerificationCodes: try PhoneCalls(turn: self).listCodes()
        case .createTenant, .getTenant, .listTenants, .updateTenant, .deleteTenant:
            try TenantCalls(turn: self).answer()
        default: try ProviderCalls(turn: self).answerAboutProviders()
        }
    }

    // MARK: The caller

    /// Returns the account of the call's token.
    func user() throws -> Account {
        guard let token = call.token else {
            throw fields.has("idToken") ? AccountRefusal.invalidIDToken : .missingIDToken
        }
        guard token.project.hasSameBytes(as: call.pool.project) else {
            throw AccountRefusal.otherProject(of: token, than: call.pool.project)
        }
        guard token.pool.name.hasSameBytes(as: call.pool.name) else {
            throw AccountRefusal.tenantMismatch
        }
        // The tokens of an emulator do not expire. Source: server-protocol 4.
        if isSecure, token.expiresAt <= seconds { throw AccountRefusal.tokenExpired }
        guard let account = try accounts.account(localID: token.localID) else {
            throw AccountRefusal.userNotFound
        }
        if account.isDisabled { throw AccountRefusal.userDisabled }
        if token.issuedAt < account.validSince || isSecure && voided.contain(token) {
            throw AccountRefusal.tokenExpired
        }
        return account
    }

    /// The maximum age of a recent sign-in, in seconds: 5 minutes. Source: Firebase,
    /// `requires-recent-login`.
    static let recentLogin: Int64 = 300

    func requireRecentLogin() throws {
        guard isSecure, let token = call.token else { return }
        if seconds - token.authTime > Self.recentLogin { throw AccountRefusal.credentialTooOld }
    }

    /// Returns the account that an administrator names, or the caller's own account.
    func subject() throws -> Account {
        guard call.isAdmin, !fields.has("idToken") else { return try user() }
        guard let localID = try fields.filled("localId") else {
            throw AccountRefusal.missingLocalID
        }
        guard let account = try accounts.account(localID: localID) else {
            throw AccountRefusal.userNotFound
        }
        return account
    }

    // MARK: Identities

    /// - Throws: `FEDERATED_USER_ID_ALREADY_LINKED` if the identity belongs to another account.
    func link(_ link: ProviderLink?, to account: inout Account) throws {
        guard let link, !link.providerID.isEmpty, !link.rawID.isEmpty else {
            throw AccountRefusal("INVALID_PROVIDER_ID")
        }
        if let other = try accounts.account(providerID: link.providerID, rawID: link.rawID),
            other.row != account.row
        {
            throw AccountRefusal.federatedIDLinked
        }
        account.links.removeAll { $0.providerID == link.providerID }
        account.links.append(link)
        account.links.sort { $0.providerID < $1.providerID }
    }

    /// Prepares an account for the proven owner of its address. If the address was not verified
    /// before, another client may have created the account. Therefore, the password, the linked
    /// providers and the second factors are removed, and all tokens are revoked.
    func claimAddress(of account: inout Account) throws {
        guard !account.isEmailVerified else { return }
        account.password = nil
        account.links = []
        account.factors = []
        try revokeTokens(of: &account)
    }

    // MARK: Tokens

    /// Answers a correct first factor: with tokens, or with a challenge if the account has a second
    /// factor. A caller with a valid token of this account, made with its second factor, is not
    /// asked again. The token of another account proves nothing.
    ///
    /// - Parameter method: The sign-in method for the project's blocking function; nil for the
    ///   provider.
    func signIn(
        _ reply: inout AccountReply, to account: inout Account, provider: String,
        method: String? = nil
    ) throws {
        let shown = try? user().row == account.row ? call.token?.secondFactor : nil
        if account.factors.isEmpty || shown != nil {
            // A signed-in user who adds a method does not sign in again.
            let asked = fields.has("idToken") ? nil : method ?? provider
            return try grant(
                &reply, to: &account, provider: provider, factor: shown, askedBy: asked)
        }
        try accounts.update(account)
        try FactorCalls(turn: self).challenge(&reply, account, provider: provider)
    }

    /// Starts a session and adds its tokens to the reply.
    ///
    /// - Parameters:
    ///   - authTime: The time of the sign-in, in seconds since 1970; nil for the current time.
    ///   - factor: The id of the second factor of the sign-in; nil for none.
    ///   - method: The sign-in method for the project's blocking function; nil if the function is
    ///     not asked. A function that disables the account ends the sign-in.
    func grant(
        _ reply: inout AccountReply, to account: inout Account, provider: String,
        claims: String = "{}", authTime: Int64? = nil, factor: String? = nil,
        askedBy method: String? = nil
    ) throws {
        var claims = claims
        if let method, !account.isDisabled {
            let session = try allowSignIn(&account, by: method, factor: factor)
            if !session.isEmpty { claims = AccountClaims.text(session) }
        }
        if account.isDisabled {
            try accounts.update(account)
            reply = AccountReply(refusal: .userDisabled)
            return
        }
        if authTime == nil { account.lastLoginAt = now }
        account.lastRefreshAt = now
        try accounts.update(account)
        let secret = environment.randomBytes(32)
        let session = Session(
            id: environment.randomBytes(16), account: account.row,
            secret: environment.digest(secret), provider: provider, claims: claims, factor: factor,
            createdAt: authTime ?? seconds, usedAt: seconds)
        try sessions.insert(session)
        reply.fields["refreshToken"] = .text(RefreshToken(session.id, secret).text)
        reply.fields["expiresIn"] = .text(String(AccountClaims.lifetime))
        if let tenant = call.pool.tenant { reply.fields["tenantId"] = .text(tenant) }
        reply.claims = AccountClaims.make(
            of: account, session: session, in: call.pool, now: seconds)
        reply.tokenFields = ["idToken"]
    }

    /// Revokes all tokens of an account that were issued before now.
    func revokeTokens(of account: inout Account) throws {
        account.validSince = seconds
        voidTokensOfThisSecond(of: account)
        // If `validSince` is moved back, the tokens become valid again. If tokens are signed, the
        // sessions are revoked permanently to prevent that. Source: server-production-facts 10.
        if isSecure { try sessions.revokeAll(of: account.row, begunBy: seconds) }
    }

    /// Voids the tokens from earlier in this second, which `validSince` does not tell apart.
    func voidTokensOfThisSecond(of account: Account) {
        changes.void(account.localID, in: call.pool, second: seconds)
    }

    // MARK: The project

    func configuration() throws -> ProjectConfiguration {
        let rows = try transaction.rows(
            "SELECT json FROM projectConfiguration WHERE project = ?", [.text(call.pool.project)])
        return ProjectConfiguration(
            try rows.first.flatMap { try AccountClaims.object($0.text(0)) }, isSecure: isSecure)
    }

    // MARK: Passwords

    /// Returns the hash of the call's password in its stored form.
    func storedPassword() throws -> StoredPassword {
        guard let key else { throw AccountRefusal.missingPassword }
        return StoredPassword(
            scheme: key.work.scheme, salt: key.work.salt, key: key.key, updatedAt: now)
    }

    /// The id of the call's new account; nil before ``newLocalID()``.
    var newID: String? { changes.newID }

    /// Returns a new id of 28 letters and digits, in Firebase's form. A call that has asked a
    /// blocking function about its new account keeps the id.
    func newLocalID() -> String {
        let id = call.answers.lazy.compactMap(\.newID).first ?? randomLocalID()
        changes.newID = id
        return id
    }

    private func randomLocalID() -> String {
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
        var id = ""
        while id.count < 28 {
            for byte in environment.randomBytes(32) where byte < 248 && id.count < 28 {
                id.append(letters[Int(byte) % letters.count])
            }
        }
        return id
    }
}

/// The id and the secret of a session, in the client's form.
struct RefreshToken {
    let id: [UInt8]
    let secret: [UInt8]

    init(_ id: [UInt8], _ secret: [UInt8]) {
        self.id = id
        self.secret = secret
    }

    /// Returns nil if the text is not a refresh token of this server.
    init?(text: String) {
        guard text.utf8.count == 64, let bytes = Base64.bytes(text), bytes.count == 48 else {
            return nil
        }
        id = Array(bytes[..<16])
        secret = Array(bytes[16...])
    }

    var text: String { Base64.text(id + secret, isURL: true) }
}

/// A group of calls that are performed inside one turn.
protocol AccountCalls {
    var turn: AccountTurn { get }
}

extension AccountCalls {
    var call: AccountCall { turn.call }
    var fields: AccountFields { turn.fields }
    var settings: AccountsSettings { turn.settings }
    var environment: AccountsEnvironment { turn.environment }
    var transaction: StoreTransaction { turn.transaction }
    var key: PasswordKey? { turn.key }
    var now: Int64 { turn.now }
    var seconds: Int64 { turn.seconds }
    var isSecure: Bool { turn.isSecure }
    var accounts: AccountTable { turn.accounts }
    var sessions: SessionTable { turn.sessions }
    var codes: OneTimeCodeTable { turn.codes }
}

extension AccountReply {
    /// Makes a reply with its kind in the protocol.
    init(kind: String, _ fields: [String: JSONTree] = [:]) {
        var fields = fields
        fields["kind"] = .text("identitytoolkit#\(kind)")
        self.init(fields)
    }
}
