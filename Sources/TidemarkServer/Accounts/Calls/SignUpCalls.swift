import TidemarkModel

/// Creates accounts, and signs in with a token or a link.
struct SignUpCalls: AccountCalls {
    let turn: AccountTurn

    /// Checks the conditions of a sign-up that do not need the password's hash.
    func checkSignUp() throws {
        if fields.has("localId") {
            guard call.isAdmin else { throw AccountRefusal("UNEXPECTED_PARAMETER : User ID") }
            return
        }
        if fields.has("idToken") {
            _ = try turn.user()
            _ = try address()
            return
        }
        if let email = try address(), try accounts.account(email: email) != nil {
            throw AccountRefusal.emailExists
        }
    }

    /// Returns the address of an account with a password; nil for an anonymous account, whose
    /// request has neither. An empty address is an error.
    private func address() throws -> String? {
        guard fields.has("email") || fields.has("password") || fields.has("idToken") else {
            return nil
        }
        guard let email = try fields.email() else { throw AccountRefusal.missingEmail }
        guard try fields.filled("password") != nil else { throw AccountRefusal.missingPassword }
        return email
    }

    /// Creates an account. Without an address and a password, the account is anonymous. With a
    /// token, the call adds an address and a password to the caller's account.
    func signUp() throws -> AccountReply {
        if fields.has("localId") {
            guard call.isAdmin else { throw AccountRefusal("UNEXPECTED_PARAMETER : User ID") }
            return try AccountBatches(turn: turn).create()
        }
        if fields.has("idToken") { return try upgrade() }
        let email = try address()
        var account = Account(localID: turn.newLocalID(), createdAt: now)
        if let email {
            if try accounts.account(email: email) != nil { throw AccountRefusal.emailExists }
            account.email = email
            account.initialEmail = email
            account.password = try turn.storedPassword()
        }
        account.displayName = try fields.filled("displayName", upTo: 1_024)
        account.validSince = seconds
        // Functions are asked about no anonymous accounts, and not by administrators. Source:
        // Firebase, "Extend Firebase Authentication with blocking functions".
        let asked = email == nil || call.isAdmin ? nil : "password"
        if let asked {
            try turn.create(&account, by: asked)
        } else {
            try accounts.insert(&account)
        }
        var reply = AccountReply(kind: "SignupNewUserResponse", ["localId": .text(account.localID)])
        if let email { reply.fields["email"] = .text(email) }
        if let name = account.displayName { reply.fields["displayName"] = .text(name) }
        try turn.grant(
            &reply, to: &account, provider: email == nil ? "anonymous" : "password",
            askedBy: asked)
        return reply
    }

    private func upgrade() throws -> AccountReply {
        var account = try turn.user()
        // The owner of an anonymous account has no other way to sign in again.
        if !account.isAnonymous { try turn.requireRecentLogin() }
        guard let email = try address() else { throw AccountRefusal.missingEmail }
        if let other = try accounts.account(email: email), other.row != account.row {
            throw AccountRefusal.emailExists
        }
        if account.email != email { account.isEmailVerified = false }
        account.email = email
        account.initialEmail = account.initialEmail ?? email
        account.password = try turn.storedPassword()
        try turn.revokeTokens(of: &account)
        var reply = AccountReply(
            kind: "SignupNewUserResponse",
            ["localId": .text(account.localID), "email": .text(email)])
        if let name = account.displayName { reply.fields["displayName"] = .text(name) }
        try turn.grant(
            &reply, to: &account, provider: "password", factor: call.token?.secondFactor)
        return reply
    }

    func signInWithCustomToken() throws -> AccountReply {
        guard let custom = call.custom else { throw AccountRefusal("MISSING_CUSTOM_TOKEN") }
        guard AccountFields.isLocalID(custom.localID) else { throw AccountRefusal.invalidLocalID }
        for name in custom.claims.keys.sorted() where AccountClaims.reserved.contains(name) {
            throw AccountRefusal("FORBIDDEN_CLAIM : \(name)")
        }
        guard
            custom.tenant.map({ $0.hasSameBytes(as: call.pool.tenant ?? "") })
                ?? (call.pool.tenant == nil)
        else { throw AccountRefusal.tenantMismatch }
        let claims = AccountClaims.text(custom.claims)
        if claims.utf8.count > AccountClaims.maxTextBytes {
            throw AccountRefusal("CLAIMS_TOO_LARGE")
        }
        var isNew = false
        var account: Account
        if let known = try accounts.account(localID: custom.localID) {
            account = known
            if account.isDisabled { throw AccountRefusal.userDisabled }
        } else {
            isNew = true
            account = Account(localID: custom.localID, createdAt: now)
            account.validSince = seconds
            try accounts.insert(&account)
        }
        account.isCustom = true
        // The reply does not contain the account's id. Source: server-production-facts 10.
        var reply = AccountReply(kind: "VerifyCustomTokenResponse", ["isNewUser": .bool(isNew)])
        try turn.grant(&reply, to: &account, provider: "custom", claims: claims)
        return reply
    }

    func signInWithEmailLink() throws -> AccountReply {
        guard let email = try fields.email() else { throw AccountRefusal.missingEmail }
        let code = try CodeCalls(turn: turn).code(.signIn)
        guard email.hasSameBytes(as: code.email) else { throw AccountRefusal.invalidEmail }
        var isNew = false
        var account: Account
        if fields.has("idToken") {
            account = try turn.user()
            if let other = try accounts.account(email: email), other.row != account.row {
                throw AccountRefusal.emailExists
            }
            if let old = account.email, old != email {
                try codes.deleteAll(of: old)
                try turn.revokeTokens(of: &account)
            }
        } else if let known = try accounts.account(email: email) {
            account = known
            if account.isDisabled { throw AccountRefusal.userDisabled }
            try turn.claimAddress(of: &account)
        } else {
            isNew = true
            account = Account(localID: turn.newLocalID(), createdAt: now)
            account.validSince = seconds
        }
        account.initialEmail = account.initialEmail ?? email
        account.email = email
        account.isEmailVerified = true
        account.usesEmailLink = true
        if isNew { try turn.create(&account, by: "emailLink") }
        try codes.delete(code)
        var reply = AccountReply(
            kind: "EmailLinkSigninResponse",
            [
                "localId": .text(account.localID), "email": .text(email),
                "isNewUser": .bool(isNew),
            ])
        try turn.signIn(&reply, to: &account, provider: "password", method: "emailLink")
        return reply
    }
}
