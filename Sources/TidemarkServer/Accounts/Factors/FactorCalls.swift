/// Enrols second factors and signs in with them. Source: Identity Toolkit v2, `mfaEnrollment` and
/// `mfaSignIn`; functions-events 10.
struct FactorCalls: AccountCalls {
    let turn: AccountTurn

    /// The number of wrong codes that ends a session, if tokens are signed.
    static let maxFailures: Int64 = 5

    private var table: FactorSessionTable {
        FactorSessionTable(project: call.pool.name, transaction: transaction)
    }

    // MARK: Enrolling

    /// Makes a secret for the caller's app. The factor counts after
    /// ``finishEnrolment()``.
    func beginEnrolment() throws -> AccountReply {
        let account = try turn.user()
        try turn.requireRecentLogin()
        try requireApp("totpEnrollmentInfo", "phoneEnrollmentInfo")
        try checkEnrolment(of: account)
        let name = newName()
        let secret = Base32.text(environment.randomBytes(OneTimePassword.secretBytes))
        try table.insert(
            FactorSession(
                digest: digest(name), account: account.row, secret: secret, createdAt: now))
        let end = now + FactorSessionTable.lifetime
        return AccountReply([
            "totpSessionInfo": .object([
                "sharedSecretKey": .text(secret), "sessionInfo": .text(name),
                "verificationCodeLength": .integer(Int64(OneTimePassword.digits)),
                "hashingAlgorithm": .text("SHA1"), "periodSec": .integer(OneTimePassword.period),
                "finalizeEnrollmentTime": .text(UTCText.text(milliseconds: end)),
            ])
        ])
    }

    /// Only an account with a verified address can have a second factor, because the address is the
    /// way back after the loss of the factor.
    private func checkEnrolment(of account: Account) throws {
        if try !turn.configuration().factors.isEnabled {
            throw AccountRefusal("OPERATION_NOT_ALLOWED : TOTP based MFA not enabled.")
        }
        if ["anonymous", "custom", "phone"].contains(call.token?.provider ?? "") {
            throw AccountRefusal(
                "UNSUPPORTED_FIRST_FACTOR : MFA is not available for the given first factor.")
        }
        guard account.email != nil, account.isEmailVerified else {
            throw AccountRefusal(
                "UNVERIFIED_EMAIL : Need to verify email first before enrolling second factors.")
        }
        if account.factors.count >= SecondFactor.maxPerAccount {
            throw AccountRefusal("SECOND_FACTOR_LIMIT_EXCEEDED")
        }
    }

    /// Adds the factor, after its first code.
    func finishEnrolment() throws -> AccountReply {
        var account = try turn.user()
        try turn.requireRecentLogin()
        let (info, name) = try verification()
        guard let text = try info.filled("sessionInfo") else {
            throw AccountRefusal("MISSING_SESSION_INFO")
        }
        guard let session = try table.session(digest(text), now: now),
            let secret = session.secret, session.account == account.row
        else { throw AccountRefusal("INVALID_SESSION_INFO") }
        try checkEnrolment(of: account)
        let code = try code(info)
        guard let step = try step(of: code, secret: secret, after: nil) else {
            return try refuse(session)
        }
        try table.delete(session)
        let factor = SecondFactor(
            id: turn.newLocalID(), name: name, secret: secret, enrolledAt: now, usedStep: step)
        account.factors.append(factor)
        var reply = AccountReply(["totpAuthInfo": .object([:])])
        try grantAgain(&reply, to: &account, factor: factor.id)
        return reply
    }

    func withdraw() throws -> AccountReply {
        var account = try turn.user()
        try turn.requireRecentLogin()
        guard let id = try fields.filled("mfaEnrollmentId") else {
            throw AccountRefusal("MISSING_MFA_ENROLLMENT_ID")
        }
        guard account.factors.contains(where: { $0.id == id }) else {
            throw AccountRefusal("MFA_ENROLLMENT_NOT_FOUND")
        }
        account.factors.removeAll { $0.id == id }
        var reply = AccountReply([:])
        let shown = call.token?.secondFactor
        try grantAgain(&reply, to: &account, factor: shown == id ? nil : shown)
        return reply
    }

    /// Gives the caller tokens that tell the factor, and keep the time of the sign-in.
    private func grantAgain(
        _ reply: inout AccountReply, to account: inout Account, factor: String?
    ) throws {
        guard let token = call.token else { throw AccountRefusal.missingIDToken }
        try turn.grant(
            &reply, to: &account, provider: token.provider ?? "password",
            claims: AccountClaims.text(OwnAccount(turn: turn).sessionClaims(token, of: account)),
            authTime: token.authTime, factor: factor)
    }

    // MARK: Signing in

    /// Answers a correct first factor of an account that has a second.
    func challenge(
        _ reply: inout AccountReply, _ account: Account, provider: String
    ) throws {
        let name = newName()
        try table.insert(
            FactorSession(
                digest: digest(name), account: account.row, provider: provider, createdAt: now))
        reply.fields["mfaPendingCredential"] = .text(name)
        reply.fields["mfaInfo"] = .list(account.factors.map(\.json))
    }

    /// Refuses every request, because an app makes its codes by itself.
    func beginSignIn() throws -> AccountReply {
        _ = try pending()
        throw AccountRefusal("OPERATION_NOT_ALLOWED : SMS based MFA not enabled.")
    }

    func finishSignIn() throws -> AccountReply {
        let (session, found) = try pending()
        var account = found
        let (info, _) = try verification()
        guard let id = try fields.filled("mfaEnrollmentId") else {
            throw AccountRefusal("MISSING_MFA_ENROLLMENT_ID")
        }
        guard let index = account.factors.firstIndex(where: { $0.id == id }) else {
            throw AccountRefusal("MFA_ENROLLMENT_NOT_FOUND")
        }
        let factor = account.factors[index]
        let code = try code(info)
        guard let step = try step(of: code, secret: factor.secret, after: factor.usedStep) else {
            return try refuse(session)
        }
        account.factors[index].usedStep = step
        try table.delete(session)
        var reply = AccountReply([:])
        try turn.grant(
            &reply, to: &account, provider: session.provider, factor: factor.id,
            askedBy: session.provider)
        return reply
    }

    /// Returns the sign-in that waits for its second factor, and its account.
    private func pending() throws -> (FactorSession, Account) {
        guard let text = try fields.filled("mfaPendingCredential") else {
            throw AccountRefusal("MISSING_MFA_PENDING_CREDENTIAL")
        }
        let invalid = AccountRefusal("INVALID_MFA_PENDING_CREDENTIAL")
        guard let session = try table.session(digest(text), now: now), session.secret == nil,
            let account = try accounts.account(row: session.account),
            session.createdAt / 1_000 >= account.validSince
        else { throw invalid }
        if account.isDisabled { throw AccountRefusal.userDisabled }
        return (session, account)
    }

    /// Returns the row of the account for which a call shows a code; nil for an unknown session.
    func accountRow() throws -> Int64? {
        guard let text = try fields.filled("mfaPendingCredential") else { return nil }
        return try table.session(digest(text), now: now)?.account
    }

    // MARK: Codes

    /// Returns the fields with the code, and the user's name for the factor.
    private func verification() throws -> (AccountFields, name: String?) {
        try requireApp("totpVerificationInfo", "phoneVerificationInfo")
        let info = AccountFields(try fields.object("totpVerificationInfo") ?? [:])
        return (info, try fields.filled("displayName", upTo: 1_024))
    }

    /// Refuses a request that is not about an app for authentication.
    private func requireApp(_ wanted: String, _ phone: String) throws {
        if try fields.object(wanted) != nil { return }
        if fields.has(phone) {
            throw AccountRefusal("OPERATION_NOT_ALLOWED : SMS based MFA not enabled.")
        }
        throw AccountRefusal.invalidArgument("\(wanted) is missing.")
    }

    private func code(_ info: AccountFields) throws -> String {
        guard let code = try info.filled("verificationCode", upTo: 64) else {
            throw AccountRefusal("MISSING_CODE")
        }
        return code
    }

    private func step(of code: String, secret: String, after used: Int64?) throws -> Int64? {
        password(secret).step(
            of: code, now: OneTimePassword.step(at: seconds),
            neighbours: try turn.configuration().factors.neighbours, after: used)
    }

    private func password(_ secret: String) -> OneTimePassword {
        OneTimePassword(
            secret: Base32.bytes(secret) ?? [], authenticate: environment.authenticate)
    }

    /// Counts a wrong code. There are a million codes; the count, and that of the account's
    /// attempts, prevent that a client tries them all, if tokens are signed.
    private func refuse(_ session: FactorSession) throws -> AccountReply {
        if isSecure {
            let failures = session.failures + 1
            if failures >= Self.maxFailures {
                try table.delete(session)
            } else {
                try table.setFailures(of: session, to: failures)
            }
        }
        return AccountReply(refusal: AccountRefusal("INVALID_CODE"))
    }

    private func newName() -> String { Base64.text(environment.randomBytes(48), isURL: true) }

    private func digest(_ text: String) -> [UInt8] { environment.digest(Array(text.utf8)) }

    // MARK: For tests

    /// The maximum number of listed codes.
    private static let maxListed = 1_000

    /// Returns the next code of each factor that the server accepts. Empty if tokens are signed,
    /// because the codes would replace the factors.
    func currentCodes() throws -> [JSONTree] {
        if isSecure { return [] }
        let present = OneTimePassword.step(at: seconds)
        let holders = try accounts.accounts(
            where: "secondFactors IS NOT NULL", orderedBy: "localID", offset: 0,
            limit: Int64(Self.maxListed))
        return holders.flatMap { account in
            account.factors.map { factor in
                let step = max(present, (factor.usedStep ?? present - 1) + 1)
                return JSONTree.object([
                    "localId": .text(account.localID), "mfaEnrollmentId": .text(factor.id),
                    "code": .text(password(factor.secret).code(step)),
                ])
            }
        }
    }
}

extension TokenFacts {
    /// The second factor of the sign-in; nil if there was none.
    var secondFactor: String? { claims["firebase"]?.fields?["second_factor_identifier"].text }
}
