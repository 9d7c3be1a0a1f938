/// Signs in with a password, and decides which password hash a call needs.
struct PasswordCalls: AccountCalls {
    let turn: AccountTurn

    /// Returns the password hash that the call needs. Throws if the call can be refused without the
    /// hash.
    func passwordWork() throws -> PasswordWork? {
        switch call.method {
        case .signInWithPassword: return try signInWork()
        case .signUp:
            try SignUpCalls(turn: turn).checkSignUp()
            return try fields.password().map(newWork)
        case .create: return try fields.password().map(newWork)
        case .update:
            guard let password = try fields.password() else { return nil }
            try OwnAccount(turn: turn).checkUpdate()
            return newWork(password)
        case .resetPassword:
            guard let password = try fields.password("newPassword") else { return nil }
            _ = try CodeCalls(turn: turn).code(.resetPassword)
            return newWork(password)
        default: return nil
        }
    }

    private func newWork(_ password: String) -> PasswordWork {
        PasswordWork(
            scheme: settings.passwords, salt: environment.randomBytes(16), password: password)
    }

    /// Returns the same work for a missing account, because the duration of the call must not
    /// reveal that the account is missing.
    private func signInWork() throws -> PasswordWork {
        guard let email = try fields.email() else { throw AccountRefusal.missingEmail }
        guard let password = try fields.filled("password") else {
            throw AccountRefusal.missingPassword
        }
        let stored = try accounts.account(email: email)?.password
        return PasswordWork(
            scheme: stored?.scheme ?? settings.passwords,
            salt: stored?.salt ?? Array(repeating: 0, count: 16), password: password)
    }

    func signInWithPassword() throws -> AccountReply {
        guard let email = try fields.email() else { throw AccountRefusal.missingEmail }
        let hides = try turn.configuration().hidesAccounts
        guard var account = try accounts.account(email: email) else {
            throw hides ? AccountRefusal.invalidLogin : .emailNotFound
        }
        // The key is useless if the account's password has changed since the derivation began.
        guard let key, let stored = account.password, stored.scheme == key.work.scheme,
            stored.salt == key.work.salt, isSame(stored.key, key.key)
        else { throw hides ? AccountRefusal.invalidLogin : .invalidPassword }
        if account.isDisabled { throw AccountRefusal.userDisabled }
        var reply = AccountReply(
            kind: "VerifyPasswordResponse",
            [
                "localId": .text(account.localID), "email": .text(email),
                "displayName": .text(account.displayName ?? ""), "registered": .bool(true),
            ])
        try turn.signIn(&reply, to: &account, provider: "password")
        return reply
    }
}
