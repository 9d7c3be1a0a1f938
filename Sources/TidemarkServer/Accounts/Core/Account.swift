/// One account. Times in milliseconds since 1970 where nothing else is said.
struct Account: Hashable, Sendable {
    /// The key of its row; 0 before it has one.
    var row: Int64 = 0
    var localID: String
    var email: String?
    var isEmailVerified = false
    var displayName: String?
    var photoURL: String?
    var phoneNumber: String?
    var password: StoredPassword?
    /// Claims for all its tokens, as the text of a JSON object.
    var customAttributes: String?
    var isDisabled = false
    /// Whether a custom token has signed it in.
    var isCustom = false
    /// Whether a code sent to its address has signed it in.
    var usesEmailLink = false
    var createdAt: Int64
    var lastLoginAt: Int64?
    var lastRefreshAt: Int64?
    /// Tokens issued before are void. In seconds since 1970.
    var validSince: Int64 = 0
    var initialEmail: String?
    var links: [ProviderLink] = []

    init(localID: String, createdAt: Int64) {
        self.localID = localID
        self.createdAt = createdAt
    }

    var isAnonymous: Bool {
        email == nil && phoneNumber == nil && links.isEmpty && !isCustom && password == nil
    }
}

/// Who an account is at one provider.
struct ProviderLink: Hashable, Sendable {
    var providerID: String
    var rawID: String
    var email: String?
    var displayName: String?
    var photoURL: String?
    var screenName: String?
    var federatedID: String?
}

/// What of a password is kept.
struct StoredPassword: Hashable, Sendable {
    var scheme: PasswordScheme
    var salt: [UInt8]
    var key: [UInt8]
    var updatedAt: Int64
}

// MARK: - As JSON

extension Account {
    /// What a lookup shows in place of a password.
    static let redacted = "UkVEQUNURUQ="

    /// As `users` has it. Source: server-protocol 4.
    ///
    /// - Parameter withPassword: For an administrator's list, which is how accounts move elsewhere.
    func json(withPassword: Bool = false) -> JSONTree {
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
        if isCustom { fields["customAuth"] = .bool(true) }
        if usesEmailLink { fields["emailLinkSignin"] = .bool(true) }
        if let password {
            fields["passwordHash"] = .text(
                withPassword ? Base64.text(password.key, isURL: true) : Self.redacted)
            if withPassword { fields["salt"] = .text(Base64.text(password.salt, isURL: true)) }
            fields["passwordUpdatedAt"] = .integer(password.updatedAt)
            fields["version"] = .integer(0)
        }
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
