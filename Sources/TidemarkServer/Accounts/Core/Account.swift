/// An account. Times are in milliseconds since 1970 unless stated otherwise.
struct Account: Hashable, Sendable {
    /// The key of the account's row; 0 before the row exists.
    var row: Int64 = 0
    var localID: String
    var email: String?
    var isEmailVerified = false
    var displayName: String?
    var photoURL: String?
    var phoneNumber: String?
    var password: StoredPassword?
    /// The claims for all tokens of the account, as the text of a JSON object.
    var customAttributes: String?
    var isDisabled = false
    /// True if a custom token has signed the account in.
    var isCustom = false
    /// True if a code by mail has signed the account in.
    var usesEmailLink = false
    var createdAt: Int64
    var lastLoginAt: Int64?
    var lastRefreshAt: Int64?
    /// The time before which issued tokens are void, in seconds since 1970.
    var validSince: Int64 = 0
    var initialEmail: String?
    var links: [ProviderLink] = []
    var factors: [SecondFactor] = []

    init(localID: String, createdAt: Int64) {
        self.localID = localID
        self.createdAt = createdAt
    }

    var isAnonymous: Bool {
        email == nil && phoneNumber == nil && links.isEmpty && !isCustom && password == nil
    }
}

/// The identity of an account at a provider.
struct ProviderLink: Hashable, Sendable {
    var providerID: String
    var rawID: String
    var email: String?
    var displayName: String?
    var photoURL: String?
    var screenName: String?
    var federatedID: String?
}

/// The stored form of a password.
struct StoredPassword: Hashable, Sendable {
    var scheme: PasswordScheme
    var salt: [UInt8]
    var key: [UInt8]
    var updatedAt: Int64
}

// MARK: - As JSON

extension Account {
    /// The replacement of a password in a lookup.
    static let redacted = "UkVEQUNURUQ="

    /// Returns the form in `users`. Source: server-protocol 4.
    ///
    /// - Parameters:
    ///   - tenant: The tenant of the account's pool.
    ///   - withPassword: True for an administrator's list, which moves accounts to another server.
    func json(tenant: String? = nil, withPassword: Bool = false) -> JSONTree {
        var fields: [String: JSONTree] = [
            "localId": .text(localID),
            "createdAt": .text(String(createdAt)),
            "validSince": .text(String(validSince)),
            "disabled": .bool(isDisabled),
            "emailVerified": .bool(isEmailVerified),
        ]
        let texts: [(String, String?)] = [
            ("email", email), ("displayName", displayName), ("photoUrl", photoURL),
            ("phoneNumber", phoneNumber), ("customAttributes", customAttributes),
            ("initialEmail", initialEmail),
            ("lastLoginAt", lastLoginAt.map(String.init)),
            ("lastRefreshAt", lastRefreshAt.map { UTCText.text(milliseconds: $0) }),
        ]
        for (name, value) in texts { if let value { fields[name] = .text(value) } }
        if let tenant { fields["tenantId"] = .text(tenant) }
        if isCustom { fields["customAuth"] = .bool(true) }
        if usesEmailLink { fields["emailLinkSignin"] = .bool(true) }
        if let password {
            fields["passwordHash"] = .text(
                withPassword ? Base64.text(password.key, isURL: true) : Self.redacted)
            if withPassword { fields["salt"] = .text(Base64.text(password.salt, isURL: true)) }
            fields["passwordUpdatedAt"] = .integer(password.updatedAt)
            fields["version"] = .integer(0)
        }
        if !factors.isEmpty { fields["mfaInfo"] = .list(factors.map(\.json)) }
        let providers = providerUserInfo
        if !providers.isEmpty { fields["providerUserInfo"] = .list(providers) }
        return .object(fields)
    }

    var providerUserInfo: [JSONTree] {
        var list: [ProviderLink] = []
        if let email, password != nil || usesEmailLink {
            list.append(
                ProviderLink(
                    providerID: "password", rawID: email, email: email, displayName: displayName,
                    photoURL: photoURL, federatedID: email))
        }
        var result = (list + links).map(\.json)
        if let phoneNumber {
            result.append(
                .object([
                    "providerId": .text("phone"), "rawId": .text(phoneNumber),
                    "phoneNumber": .text(phoneNumber),
                ]))
        }
        return result
    }
}

extension ProviderLink {
    var json: JSONTree {
        var fields: [String: JSONTree] = [
            "providerId": .text(providerID), "rawId": .text(rawID),
            "federatedId": .text(federatedID ?? rawID),
        ]
        let texts: [(String, String?)] = [
            ("email", email), ("displayName", displayName), ("photoUrl", photoURL),
            ("screenName", screenName),
        ]
        for (name, value) in texts { if let value { fields[name] = .text(value) } }
        return .object(fields)
    }
}
