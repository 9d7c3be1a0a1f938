/// Refreshes tokens and makes session cookies.
struct TokenCalls: AccountCalls {
    let turn: AccountTurn

    /// Returns new tokens for a refresh token.
    ///
    /// If tokens are signed, each refresh token can be used once. The previous token stays valid
    /// until the newest token is used, because the client may have missed the last answer. Any
    /// older token shows that two clients have the session and one of them stole it. Therefore, the
    /// session ends.
    func refresh() throws -> AccountReply {
        guard let grantType = try fields.filled("grant_type") else {
            throw AccountRefusal("MISSING_GRANT_TYPE")
        }
        guard grantType == "refresh_token" else { throw AccountRefusal("INVALID_GRANT_TYPE") }
        guard let text = try fields.filled("refresh_token") else {
            throw AccountRefusal("MISSING_REFRESH_TOKEN")
        }
        guard let token = RefreshToken(text: text), var session = try sessions.session(token.id)
        else { throw AccountRefusal.invalidRefreshToken }
        let digest = environment.digest(token.secret)
        let isNewest = isSame(digest, session.secret)
        guard isNewest || isSame(digest, session.previous) else {
            if isSecure { try sessions.delete(session.id) }
            return AccountReply(refusal: .invalidRefreshToken)
        }
        // The path of this call names no project. The session's account decides the pool.
        guard let pool = try sessions.pool(of: session) else {
            throw AccountRefusal.invalidRefreshToken
        }
        var turn = turn
        turn.call.pool = AccountPool(name: pool)
        try TenantCalls(turn: turn).settingsOfCall()?.admit(turn.call)
        return try TokenCalls(turn: turn).refresh(&session, shown: text, digest)
    }

    /// Accepts a revocation of Apple's tokens and does nothing, because this server has no
    /// connection to Apple.
    func revoke() throws -> AccountReply {
        _ = try turn.user()
        guard try fields.filled("providerId") == "apple.com" else {
            throw AccountRefusal("INVALID_PROVIDER_ID")
        }
        guard try fields.filled("token") != nil else { throw AccountRefusal("MISSING_TOKEN") }
        return AccountReply([:])
    }

    private func refresh(
        _ session: inout Session, shown text: String, _ digest: [UInt8]
    ) throws -> AccountReply {
        guard var account = try accounts.account(row: session.account) else {
            throw AccountRefusal.invalidRefreshToken
        }
        if account.isDisabled { throw AccountRefusal.userDisabled }
        if session.isRevoked || session.createdAt < account.validSince {
            throw AccountRefusal.tokenExpired
        }
        var answered = text
        if isSecure {
            let secret = environment.randomBytes(32)
            session.previous = digest
            session.secret = environment.digest(secret)
            answered = RefreshToken(session.id, secret).text
        }
        session.usedAt = seconds
        try sessions.update(session)
        account.lastRefreshAt = now
        try accounts.update(account)
        return refreshed(account, session: session, token: answered)
    }

    private func refreshed(
        _ account: Account, session: Session, token: String
    ) -> AccountReply {
        var reply = AccountReply([
            "refresh_token": .text(token), "expires_in": .text(String(AccountClaims.lifetime)),
            "token_type": .text("Bearer"), "user_id": .text(account.localID),
            // A number that is equal for all projects, because this server's projects have no
            // numbers.
            "project_id": .text("12345"),
        ])
        reply.claims = AccountClaims.make(
            of: account, session: session, in: call.pool, now: seconds)
        reply.tokenFields = ["id_token", "access_token"]
        return reply
    }

    /// Makes a session cookie with the requested lifetime: 5 minutes to 14 days. Source: Firebase,
    /// "Manage Session Cookies".
    func createSessionCookie() throws -> AccountReply {
        guard let token = call.token else {
            throw fields.has("idToken") ? AccountRefusal.invalidIDToken : .missingIDToken
        }
        _ = try turn.user()
        let duration = try fields.integer("validDuration") ?? 1_209_600
        guard (300...1_209_600).contains(duration) else {
            throw AccountRefusal("INVALID_DURATION")
        }
        var claims = token.claims
        claims["iss"] = .text(TokenFacts.cookieIssuer + call.pool.project)
        claims["iat"] = .integer(seconds)
        claims["exp"] = .integer(seconds + duration)
        var reply = AccountReply([:])
        reply.claims = claims
        reply.tokenFields = ["sessionCookie"]
        return reply
    }
}
