import Foundation
import TidemarkModel

/// The claims of an account's token. Source: server-protocol 4, server-production-facts 10.
package enum AccountClaims {
    static let maxTextBytes = 1_000
    /// The lifetime of a token, in seconds.
    static let lifetime: Int64 = 3_600

    /// The reserved names, which custom claims must not use. Source: Firebase, "Create Custom
    /// Tokens".
    static let reserved: Set<String> = [
        "acr", "amr", "at_hash", "aud", "auth_time", "azp", "c_hash", "cnf", "exp", "firebase",
        "iat", "iss", "jti", "nbf", "nonce", "sub",
    ]

    /// The names of the claims that describe every account.
    static let ofAccounts: Set<String> = [
        "name", "picture", "provider_id", "email", "email_verified", "phone_number", "user_id",
    ]

    static func object(_ text: String) -> [String: JSONTree]? {
        guard text.utf8.filter({ $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "[") }).count < 64
        else { return nil }
        return (try? JSONDecoder().decode(JSONTree.self, from: Data(text.utf8)))?.fields
    }

    /// Returns true if an object of the JSON text has two names that differ only in how an accent
    /// is composed. A dictionary keeps one of them.
    package static func hasTwinNames(_ text: [UInt8]) -> Bool {
        guard let value = try? JSONValue(text) else { return false }
        return hasTwinNames(value)
    }

    private static func hasTwinNames(_ value: JSONValue) -> Bool {
        switch value {
        case .object(let object):
            let names = object.map(\.name)
            return Set(names).count < Set(names.map { Array($0.utf8) }).count
                || object.contains { hasTwinNames($0.value) }
        case .list(let elements): return elements.contains(where: hasTwinNames)
        default: return false
        }
    }

    static func text(_ claims: [String: JSONTree]) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let data = (try? encoder.encode(JSONTree.object(claims))) ?? Data("{}".utf8)
        return String(decoding: data, as: UTF8.self)
    }

    /// - Parameters:
    ///   - session: The session, whose claims override the account's own claims.
    ///   - now: The present time, in seconds since 1970.
    static func make(
        of account: Account, session: Session, in pool: AccountPool, now: Int64
    ) -> [String: JSONTree] {
        var claims = account.customAttributes.flatMap(object) ?? [:]
        claims.merge(object(session.claims) ?? [:]) { $1 }
        for name in reserved { claims[name] = nil }
        if let name = account.displayName { claims["name"] = .text(name) }
        if let photo = account.photoURL { claims["picture"] = .text(photo) }
        if session.provider == "anonymous" { claims["provider_id"] = .text("anonymous") }
        if let email = account.email {
            claims["email"] = .text(email)
            claims["email_verified"] = .bool(account.isEmailVerified)
        }
        if let phone = account.phoneNumber { claims["phone_number"] = .text(phone) }
        claims["iss"] = .text(TokenFacts.issuer + pool.project)
        claims["aud"] = .text(pool.project)
        claims["sub"] = .text(account.localID)
        claims["user_id"] = .text(account.localID)
        claims["auth_time"] = .integer(session.createdAt)
        claims["iat"] = .integer(now)
        claims["exp"] = .integer(now + lifetime)
        var signIn: [String: JSONTree] = [
            "identities": .object(identities(of: account)),
            "sign_in_provider": .text(session.provider),
        ]
        if let tenant = pool.tenant { signIn["tenant"] = .text(tenant) }
        if let factor = session.factor {
            signIn["sign_in_second_factor"] = .text("totp")
            signIn["second_factor_identifier"] = .text(factor)
        }
        claims["firebase"] = .object(signIn)
        return claims
    }

    private static func identities(of account: Account) -> [String: JSONTree] {
        var identities: [String: JSONTree] = [:]
        if let email = account.email { identities["email"] = .list([.text(email)]) }
        if let phone = account.phoneNumber { identities["phone"] = .list([.text(phone)]) }
        for link in account.links {
            identities[link.providerID] = .list(
                (identities[link.providerID].elements) + [.text(link.rawID)])
        }
        return identities
    }
}
