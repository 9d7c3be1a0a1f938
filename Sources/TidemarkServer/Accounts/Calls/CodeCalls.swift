/// Sends one-time codes and performs their actions.
struct CodeCalls: AccountCalls {
    let turn: AccountTurn

    /// Makes a code for the owner of an address. The reply to an administrator can contain the
    /// link. Otherwise, the code is stored in the project, from which a mailer reads it.
    func sendCode() throws -> AccountReply {
        guard let text = try fields.filled("requestType"),
            let kind = OneTimeCode.Kind(rawValue: text)
        else { throw AccountRefusal("MISSING_REQ_TYPE") }
        let returnsLink = try fields.flag("returnOobLink") ?? false
        if returnsLink, !call.isAdmin { throw AccountRefusal.insufficientPermission }
        let (email, newEmail) = try addresses(kind)
        var reply = AccountReply(kind: "GetOobConfirmationCodeResponse", ["email": .text(email)])
        let account = try accounts.account(email: email)
        if account == nil, kind != .signIn {
            // Source: server-production-facts 10.
            if try !returnsLink && turn.configuration().hidesAccounts { return reply }
            throw AccountRefusal.emailNotFound
        }
        if account?.isDisabled == true, kind != .signIn { throw AccountRefusal.userDisabled }
        let code = Base64.text(environment.randomBytes(24), isURL: true)
        let link = try link(kind, code)
        try codes.insert(
            OneTimeCode(
                digest: environment.digest(Array(code.utf8)), code: code, kind: kind, email: email,
                newEmail: newEmail, link: link, createdAt: now))
        if returnsLink {
            reply.fields["oobCode"] = .text(code)
            reply.fields["oobLink"] = .text(link)
        }
        return reply
    }

    private func addresses(_ kind: OneTimeCode.Kind) throws -> (String, String?) {
        guard kind == .verifyEmail || kind == .changeEmail, !call.isAdmin || fields.has("idToken")
        else {
            guard let email = try fields.email() else { throw AccountRefusal.missingEmail }
            return (email, try fields.email("newEmail", else: .invalidNewEmail))
        }
        guard let email = try turn.user().email else { throw AccountRefusal.missingEmail }
        guard kind == .changeEmail else { return (email, nil) }
        try turn.requireRecentLogin()
        guard let newEmail = try fields.email("newEmail", else: .invalidNewEmail) else {
            throw AccountRefusal("MISSING_NEW_EMAIL")
        }
        if try accounts.account(email: newEmail) != nil { throw AccountRefusal.emailExists }
        return (email, newEmail)
    }

    private func link(_ kind: OneTimeCode.Kind, _ code: String) throws -> String {
        let mode =
            switch kind {
            case .resetPassword: "resetPassword"
            case .verifyEmail: "verifyEmail"
            case .signIn: "signIn"
            case .changeEmail: "verifyAndChangeEmail"
            }
        var link = "\(call.origin)/emulator/action?mode=\(mode)&lang=en&oobCode=\(code)&apiKey=key"
        if let tenant = call.pool.tenant { link += "&tenantId=\(tenant)" }
        if let url = try fields.filled("continueUrl") {
            guard url.hasPrefix("http://") || url.hasPrefix("https://") else {
                throw AccountRefusal("INVALID_CONTINUE_URI")
            }
            link += "&continueUrl=\(URLText.escaped(url))"
        }
        return link
    }

    /// Returns the request's code, if the code is of one of these kinds, is not too old, and was
    /// not used.
    func code(_ kinds: OneTimeCode.Kind...) throws -> OneTimeCode {
        guard let text = try fields.filled("oobCode") else {
            throw AccountRefusal("MISSING_OOB_CODE")
        }
        guard let code = try codes.code(environment.digest(Array(text.utf8))),
            kinds.contains(code.kind)
        else { throw AccountRefusal.codeInvalid }
        if now - code.createdAt > OneTimeCodeTable.lifetime { throw AccountRefusal.codeExpired }
        return code
    }

    /// Sets a new password. Without a new password, the reply only describes the code.
    func resetPassword() throws -> AccountReply {
        guard try fields.password("newPassword") != nil else {
            let code = try code(.resetPassword, .verifyEmail, .signIn, .changeEmail)
            return about(code)
        }
        let code = try code(.resetPassword)
        guard var account = try accounts.account(email: code.email) else {
            throw AccountRefusal.codeInvalid
        }
        if account.isDisabled { throw AccountRefusal.userDisabled }
        try turn.claimAddress(of: &account)
        account.password = try turn.storedPassword()
        account.isEmailVerified = true
        try turn.revokeTokens(of: &account)
        try accounts.update(account)
        try codes.deleteAll(of: code.email)
        return about(code)
    }

    private func about(_ code: OneTimeCode) -> AccountReply {
        var reply = AccountReply(
            kind: "ResetPasswordResponse",
            ["email": .text(code.email), "requestType": .text(code.kind.rawValue)])
        if let newEmail = code.newEmail { reply.fields["newEmail"] = .text(newEmail) }
        return reply
    }

    /// Verifies the address of an account, or changes the address.
    func applyCode() throws -> AccountReply {
        let code = try code(.verifyEmail, .changeEmail)
        guard var account = try accounts.account(email: code.email) else {
            throw AccountRefusal.codeInvalid
        }
        if account.isDisabled { throw AccountRefusal.userDisabled }
        if let newEmail = code.newEmail {
            if try accounts.account(email: newEmail) != nil { throw AccountRefusal.emailExists }
            account.email = newEmail
            try turn.revokeTokens(of: &account)
        }
        account.isEmailVerified = true
        try accounts.update(account)
        try codes.delete(code)
        return OwnAccount(turn: turn).updated(account)
    }

    func listCodes() throws -> AccountReply {
        let list = try codes.all().map { code in
            JSONTree.object([
                "email": .text(code.email), "requestType": .text(code.kind.rawValue),
                "oobCode": .text(code.code ?? ""), "oobLink": .text(code.link ?? ""),
            ])
        }
        return AccountReply(["oobCodes": .list(list)])
    }
}
