/// Signs in with an identity from another provider.
struct ProviderSignIn: AccountCalls {
    let turn: AccountTurn

    /// Signs in with the identity, or links the identity to the caller's account.
    func signInWithProvider() throws -> AccountReply {
        guard let identity = call.identity else {
            throw AccountRefusal("INVALID_IDP_RESPONSE")
        }
        var reply = AccountReply(
            kind: "VerifyAssertionResponse",
            [
                "providerId": .text(identity.providerID),
                "rawUserInfo": .text(identity.rawUserInfo),
                "federatedId": .text(identity.federatedID), "rawId": .text(identity.rawID),
            ])
        let texts: [(String, String?)] = [
            ("displayName", identity.displayName), ("photoUrl", identity.photoURL),
            ("screenName", identity.screenName),
            ("oauthIdToken", identity.idToken), ("oauthAccessToken", identity.accessToken),
        ]
        for (name, value) in texts { if let value { reply.fields[name] = .text(value) } }
        guard let (found, isNew) = try holder(identity, &reply) else { return reply }
        var account = found
        reply.fields["localId"] = .text(account.localID)
        if isNew { reply.fields["isNewUser"] = .bool(true) }
        if let email = account.email { reply.fields["email"] = .text(email) }
        reply.fields["emailVerified"] = .bool(account.isEmailVerified)
        try turn.signIn(&reply, to: &account, provider: identity.providerID)
        return reply
    }

    /// - Returns: The account; nil if the client must first sign in with another method, which the
    ///   reply names.
    private func holder(
        _ identity: ProviderIdentity, _ reply: inout AccountReply
    ) throws -> (Account, isNew: Bool)? {
        let linked = try accounts.account(
            providerID: identity.providerID, rawID: identity.rawID)
        if fields.has("idToken") {
            var account = try turn.user()
            if let linked, linked.row != account.row { throw AccountRefusal.federatedIDLinked }
            try adopt(identity, &account)
            return (account, false)
        }
        if var account = linked {
            if account.isDisabled { throw AccountRefusal.userDisabled }
            try adopt(identity, &account)
            return (account, false)
        }
        if let email = identity.address, var account = try accounts.account(email: email) {
            if account.isDisabled { throw AccountRefusal.userDisabled }
            guard identity.isEmailVerified else {
                reply.fields["needConfirmation"] = .bool(true)
                reply.fields["email"] = .text(email)
                reply.fields["verifiedProvider"] = .list(
                    account.providerUserInfo.compactMap { $0.fields?["providerId"] })
                return nil
            }
            // An equal verified address identifies the same account. Source: server-protocol 4.
            try turn.claimAddress(of: &account)
            account.isEmailVerified = true
            try adopt(identity, &account)
            return (account, false)
        }
        var account = Account(localID: turn.newLocalID(), createdAt: now)
        account.validSince = seconds
        try adopt(identity, &account)
        try turn.create(&account, by: identity.providerID)
        return (account, true)
    }

    /// Links the identity to the account, and copies the provider's values into the account's empty
    /// fields.
    private func adopt(_ identity: ProviderIdentity, _ account: inout Account) throws {
        try turn.link(
            ProviderLink(
                providerID: identity.providerID, rawID: identity.rawID, email: identity.address,
                displayName: identity.displayName, photoURL: identity.photoURL,
                screenName: identity.screenName,
                federatedID: identity.federatedID), to: &account)
        account.displayName = account.displayName ?? identity.displayName
        account.photoURL = account.photoURL ?? identity.photoURL
        guard account.email == nil, let email = identity.address,
            try accounts.account(email: email) == nil
        else { return }
        account.email = email
        account.initialEmail = account.initialEmail ?? email
        account.isEmailVerified = identity.isEmailVerified
    }

    /// Returns the sign-in methods of an address, unless the project hides its accounts.
    func signInMethods() throws -> AccountReply {
        guard let email = try fields.email("identifier", else: .invalidIdentifier) else {
            throw AccountRefusal("MISSING_IDENTIFIER")
        }
        let session = Base64.text(environment.randomBytes(16), isURL: true)
        var reply = AccountReply(kind: "CreateAuthUriResponse", ["sessionId": .text(session)])
        if try turn.configuration().hidesAccounts { return reply }
        let account = try accounts.account(email: email)
        reply.fields["registered"] = .bool(account != nil)
        guard let account else { return reply }
        let providers = account.providerUserInfo.compactMap { $0.fields?["providerId"] }
        var methods = providers.filter { $0 != .text("password") }
        if account.password != nil { methods.append(.text("password")) }
        if account.usesEmailLink { methods.append(.text("emailLink")) }
        reply.fields["allProviders"] = .list(providers)
        reply.fields["signinMethods"] = .list(methods)
        return reply
    }
}

extension ProviderIdentity {
    /// The address in lower case; nil if there is no valid address.
    var address: String? {
        guard let email else { return nil }
        let fields = AccountFields(["email": .text(email)])
        return (try? fields.email()) ?? nil
    }

    /// The id in Google's form for Google, and the raw id for other providers. Source:
    /// server-protocol 4.
    var federatedID: String {
        providerID == "google.com" ? "https://accounts.google.com/\(rawID)" : rawID
    }
}
