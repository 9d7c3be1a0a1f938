extension AccountTurn {
    /// Creates the account of a client's call, if the project's function allows it.
    ///
    /// - Parameter method: The sign-in method in the function's token, such as `password`.
    /// - Throws: ``BlockingQuestion`` if the function was not asked yet.
    func create(_ account: inout Account, by method: String) throws {
        if let answer = try answer(.beforeCreate, about: account, by: method) {
            let session = try answer.apply(to: &account)
            precondition(session.isEmpty, "only a sign-in has a session")
        }
        try accounts.insert(&account)
    }

    /// Lets the project's function decide about a sign-in.
    ///
    /// - Parameter factor: The id of the second factor of the sign-in; nil for none.
    /// - Returns: The claims for the tokens of this sign-in alone.
    /// - Throws: ``BlockingQuestion`` if the function was not asked yet.
    func allowSignIn(
        _ account: inout Account, by method: String, factor: String?
    ) throws -> [String: JSONTree] {
        let asked = try answer(.beforeSignIn, about: account, by: method, factor: factor)
        guard let answer = asked else { return [:] }
        let session = try answer.apply(to: &account)
        let own = account.customAttributes.flatMap(AccountClaims.object) ?? [:]
        let both = AccountClaims.text(own.merging(session) { $1 })
        guard both.utf8.count <= AccountClaims.maxTextBytes else {
            throw AccountRefusal.blockingFunction(
                """
                customClaims and sessionClaims must have at most \(AccountClaims.maxTextBytes) \
                bytes together.
                """)
        }
        return session
    }

    /// - Returns: The function's answer; nil if the project has no function for this moment.
    private func answer(
        _ moment: BlockingMoment, about account: Account, by method: String,
        factor: String? = nil
    ) throws -> BlockingAnswer? {
        let functions = try configuration().blocking
        guard let url = functions.urls[moment] else { return nil }
        let known = call.answers.last { $0.moment == moment && $0.localID == account.localID }
        if let known { return known }
        var claims = claims(moment, account, method: method, functions: functions)
        claims["aud"] = .text(url)
        if let factor {
            claims["sign_in_second_factor"] = .text("totp")
            claims["second_factor_identifier"] = .text(factor)
        }
        throw BlockingQuestion(
            moment: moment, url: url, localID: account.localID, newID: newID,
            claims: claims)
    }

    /// The function accepts its token for a minute.
    private static let tokenLifetime: Int64 = 60

    private func claims(
        _ moment: BlockingMoment, _ account: Account, method: String,
        functions: BlockingFunctions
    ) -> [String: JSONTree] {
        var claims: [String: JSONTree] = [
            "iss": .text(TokenFacts.issuer + call.pool.project),
            "sub": .text(account.localID), "iat": .integer(seconds),
            "exp": .integer(seconds + Self.tokenLifetime),
            "event_id": .text(Base64.text(environment.randomBytes(12), isURL: true)),
            "event_type": .text(moment.rawValue), "sign_in_method": .text(method),
            "user_record": account.record, "ip_address": .text(call.address),
            "user_agent": .text(call.userAgent),
        ]
        if let tenant = call.pool.tenant { claims["tenant_id"] = .text(tenant) }
        guard let identity = call.identity else { return claims }
        claims["raw_user_info"] = .text(identity.rawUserInfo)
        if functions.forwardsIDToken, let token = identity.idToken {
            claims["oauth_id_token"] = .text(token)
        }
        if functions.forwardsAccessToken, let token = identity.accessToken {
            claims["oauth_access_token"] = .text(token)
        }
        return claims
    }
}

extension Account {
    /// The account in the token of a blocking function: names in snake case, times in milliseconds,
    /// and no password. Source: functions-events 10.
    fileprivate var record: JSONTree {
        var fields: [String: JSONTree] = [
            "uid": .text(localID), "email_verified": .bool(isEmailVerified),
            "disabled": .bool(isDisabled),
            "metadata": .object(
                ["creation_time": .integer(createdAt)].merging(
                    lastLoginAt.map { ["last_sign_in_time": .integer($0)] } ?? [:]
                ) { $1 }),
            "provider_data": .list(providerUserInfo.map(Self.snakeCased)),
        ]
        let texts = [
            ("email", email), ("display_name", displayName), ("photo_url", photoURL),
            ("phone_number", phoneNumber),
        ]
        for (name, value) in texts { if let value { fields[name] = .text(value) } }
        if let claims = customAttributes.flatMap(AccountClaims.object) {
            fields["custom_claims"] = .object(claims)
        }
        if validSince > 0 { fields["tokens_valid_after_time"] = .integer(validSince) }
        if !factors.isEmpty {
            fields["multi_factor"] = .object(["enrolled_factors": .list(factors.map(\.record))])
        }
        return .object(fields)
    }

    private static let providerNames = [
        "providerId": "provider_id", "rawId": "uid", "email": "email",
        "displayName": "display_name", "photoUrl": "photo_url", "phoneNumber": "phone_number",
    ]

    private static func snakeCased(_ provider: JSONTree) -> JSONTree {
        var result: [String: JSONTree] = [:]
        for (name, value) in provider.fields ?? [:] {
            if let name = providerNames[name] { result[name] = value }
        }
        return .object(result)
    }
}

extension SecondFactor {
    fileprivate var record: JSONTree {
        var fields: [String: JSONTree] = [
            "uid": .text(id), "factor_id": .text("totp"),
            "enrollment_time": .text(UTCText.text(milliseconds: enrolledAt)),
        ]
        if let name { fields["display_name"] = .text(name) }
        return .object(fields)
    }
}
