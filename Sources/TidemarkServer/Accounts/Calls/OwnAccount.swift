/// Looks up, changes and deletes accounts: the caller's own account, or the account that an
/// administrator names.
struct OwnAccount: AccountCalls {
    let turn: AccountTurn

    // MARK: Looking up

    /// Returns the caller's own account, or the accounts that an administrator names. If there are
    /// none, the reply has no `users`, as Firebase's libraries expect. Source: server-protocol 4.
    func lookup() throws -> AccountReply {
        var found: [Account] = []
        if call.isAdmin, !fields.has("idToken") {
            found = try named()
        } else {
            found = [try turn.user()]
        }
        var reply = AccountReply(kind: "GetAccountInfoResponse")
        if !found.isEmpty {
            reply.fields["users"] = .list(
                found.map { $0.json(tenant: call.pool.tenant) })
        }
        return reply
    }

    /// The maximum number of names of each kind in a lookup. Source: Firebase, `getUsers`.
    static let maxNames = 100

    private func named() throws -> [Account] {
        var found: [Account] = []
        func add(_ account: Account?) {
            guard let account, !found.contains(where: { $0.row == account.row }) else { return }
            found.append(account)
        }
        for id in try fields.texts("localId", upTo: Self.maxNames) {
            add(try accounts.account(localID: id))
        }
        for email in try fields.texts("email", upTo: Self.maxNames) {
            add(try accounts.account(email: email.lowercased()))
        }
        for number in try fields.texts("phoneNumber", upTo: Self.maxNames) {
            add(try accounts.account(phoneNumber: number))
        }
        for name in try fields.list("federatedUserId", upTo: Self.maxNames) {
            guard let provider = name.fields?["providerId"].text,
                let rawID = name.fields?["rawId"].text
            else { throw AccountRefusal.invalidArgument("federatedUserId") }
            add(try accounts.account(providerID: provider, rawID: rawID))
        }
        return found
    }

    // MARK: Deleting

    func delete() throws -> AccountReply {
        let account = try turn.subject()
        if call.token != nil { try turn.requireRecentLogin() }
        try accounts.delete(account)
        if let email = account.email { try codes.deleteAll(of: email) }
        return AccountReply(kind: "DeleteAccountResponse")
    }

    // MARK: Changing

    /// Checks the conditions of an update that do not need the password's hash.
    func checkUpdate() throws {
        if fields.has("oobCode") { return }
        if fields.has("idToken") || !call.isAdmin {
            _ = try turn.user()
            try turn.requireRecentLogin()
        } else {
            _ = try turn.subject()
        }
    }

    private static let administrators = [
        "customAttributes", "validSince", "disableUser", "phoneNumber", "emailVerified",
        "createdAt", "lastLoginAt", "linkProviderUserInfo", "localId", "mfa",
    ]

    func update() throws -> AccountReply {
        if fields.has("oobCode") { return try CodeCalls(turn: turn).applyCode() }
        var account = try turn.subject()
        let isOwn = call.token != nil
        if isOwn || !call.isAdmin {
            for name in Self.administrators where fields.has(name) {
                throw AccountRefusal.insufficientPermission
            }
        }
        let before = account
        try changeProfile(&account)
        try changeCredentials(&account)
        if !isOwn { try changeAsAdministrator(&account) }
        try removeAttributes(&account)
        if !isOwn { try endSessions(&account, before) }
        try accounts.update(account)
        var reply = updated(account)
        let hasNewCredentials =
            account.email != before.email || account.password != before.password
        if isOwn {
            if hasNewCredentials { try turn.requireRecentLogin() }
            let wantsTokens = try fields.flag("returnSecureToken") ?? false
            if hasNewCredentials || wantsTokens {
                try grantAgain(&reply, &account, isNew: hasNewCredentials)
            }
        }
        return reply
    }

    private func grantAgain(
        _ reply: inout AccountReply, _ account: inout Account, isNew: Bool
    ) throws {
        guard let token = call.token else { return }
        try turn.grant(
            &reply, to: &account, provider: token.provider ?? "password",
            claims: AccountClaims.text(sessionClaims(token, of: account)),
            authTime: isNew ? seconds : token.authTime, factor: token.secondFactor)
    }

    /// Returns the claims that the sign-in added to the token, without all other claims.
    func sessionClaims(_ token: TokenFacts, of account: Account) -> [String: JSONTree] {
        guard token.provider == "custom" else { return [:] }
        var claims = token.claims
        for name in AccountClaims.reserved { claims[name] = nil }
        for name in AccountClaims.ofAccounts { claims[name] = nil }
        for name in account.customAttributes.flatMap(AccountClaims.object)?.keys ?? [:].keys {
            claims[name] = nil
        }
        return claims
    }

    private func changeProfile(_ account: inout Account) throws {
        if let name = try fields.text("displayName", upTo: 1_024) {
            account.displayName = name.isEmpty ? nil : name
        }
        if let url = try fields.text("photoUrl") { account.photoURL = url.isEmpty ? nil : url }
    }

    /// Ends the sessions of an account after an administrator has changed its address, number or
    /// password, and the sessions from before `validSince`. Source: Firebase, "Manage User
    /// Sessions".
    private func endSessions(_ account: inout Account, _ before: Account) throws {
        let isChanged =
            account.email != before.email || account.phoneNumber != before.phoneNumber
            || account.password != before.password
        if isChanged { try turn.revokeTokens(of: &account) }
        if let time = try fields.integer("validSince") {
            account.validSince = time
            if time == seconds { turn.voidTokensOfThisSecond(of: account) }
            if isSecure { try sessions.revokeAll(of: account.row, begunBy: min(time, seconds)) }
        }
    }

    /// Sets a new address and a new password. A change by the owner revokes all tokens of the
    /// account; the owner then gets new tokens.
    private func changeCredentials(_ account: inout Account) throws {
        var revokes = false
        if let email = try fields.email(), email != account.email {
            if try accounts.account(email: email) != nil { throw AccountRefusal.emailExists }
            if let old = account.email { try codes.deleteAll(of: old) }
            account.initialEmail = account.initialEmail ?? email
            account.email = email
            account.isEmailVerified = false
            revokes = true
        }
        if try fields.password() != nil {
            account.password = try turn.storedPassword()
            revokes = true
        }
        if revokes, call.token != nil { try turn.revokeTokens(of: &account) }
    }

    private func changeAsAdministrator(_ account: inout Account) throws {
        if let number = try fields.phoneNumber(), number != account.phoneNumber {
            if try accounts.account(phoneNumber: number) != nil {
                throw AccountRefusal.phoneNumberExists
            }
            account.phoneNumber = number
        }
        if let claims = try fields.customAttributes() {
            account.customAttributes = claims.isEmpty ? nil : claims
        }
        account.isDisabled = try fields.flag("disableUser") ?? account.isDisabled
        account.isEmailVerified = try fields.flag("emailVerified") ?? account.isEmailVerified
        account.createdAt = try fields.integer("createdAt") ?? account.createdAt
        account.lastLoginAt = try fields.integer("lastLoginAt") ?? account.lastLoginAt
        try changeFactors(&account)
        if let info = try fields.object("linkProviderUserInfo") {
            try turn.link(ProviderLink(json: info), to: &account)
        }
    }

    /// Removes the second factors that an administrator's list leaves out. Nobody but the user can
    /// add one.
    private func changeFactors(_ account: inout Account) throws {
        guard let mfa = try fields.object("mfa") else { return }
        let listed = try AccountFields(mfa).list("enrollments", upTo: SecondFactor.maxPerAccount)
        let kept = Set(listed.compactMap { $0.fields?["mfaEnrollmentId"].text })
        guard kept.count == listed.count, kept.isSubset(of: account.factors.map(\.id)) else {
            throw AccountRefusal.invalidArgument(
                "mfa.enrollments can only contain the account's own factors.")
        }
        account.factors.removeAll { !kept.contains($0.id) }
    }

    private func removeAttributes(_ account: inout Account) throws {
        for name in try fields.texts("deleteAttribute", upTo: 32) {
            switch name {
            case "DISPLAY_NAME": account.displayName = nil
            case "PHOTO_URL": account.photoURL = nil
            case "EMAIL": account.email = nil
            case "PASSWORD": account.password = nil
            case "PROVIDER": account.links = []
            default: throw AccountRefusal.invalidArgument("deleteAttribute")
            }
        }
        for name in try fields.texts("deleteProvider", upTo: 32) {
            switch name {
            case "phone": account.phoneNumber = nil
            case "password":
                account.password = nil
                account.usesEmailLink = false
            default: account.links.removeAll { $0.providerID == name }
            }
        }
    }

    func updated(_ account: Account) -> AccountReply {
        var reply = AccountReply(
            kind: "SetAccountInfoResponse",
            [
                "localId": .text(account.localID), "emailVerified": .bool(account.isEmailVerified),
                "providerUserInfo": .list(account.providerUserInfo),
            ])
        let texts: [(String, String?)] = [
            ("email", account.email), ("displayName", account.displayName),
            ("photoUrl", account.photoURL),
            ("passwordHash", account.password.map { _ in Account.redacted }),
        ]
        for (name, value) in texts { if let value { reply.fields[name] = .text(value) } }
        return reply
    }
}

extension ProviderLink {
    /// Returns nil if the provider or the id is missing.
    init?(json fields: [String: JSONTree]) {
        guard let provider = fields["providerId"].text, let raw = fields["rawId"].text,
            provider.utf8.count <= 256, raw.utf8.count <= 512
        else { return nil }
        self.init(
            providerID: provider, rawID: raw, email: fields["email"].text,
            displayName: fields["displayName"].text, photoURL: fields["photoUrl"].text,
            screenName: fields["screenName"].text, federatedID: fields["federatedId"].text)
    }
}
