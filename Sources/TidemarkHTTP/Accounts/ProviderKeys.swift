import Crypto
public import Foundation
import JWTKit
import TidemarkServer

/// The providers whose tokens are trusted if tokens are signed, read from a file:
///
/// ```json
/// {
///   "providers": {
///     "apple.com": {
///       "issuers": ["https://appleid.apple.com"], "audiences": ["com.example.app"],
///       "jwks": {"keys": [{"kty": "RSA", "kid": "…", "alg": "RS256", "n": "…", "e": "AQAB"}]}
///     }
///   },
///   "customTokens": {"jwks": {"keys": []}}
/// }
/// ```
///
/// The server downloads nothing: the file contains the keys. If a provider changes its keys, the
/// file must be replaced.
public struct ProviderKeys: Sendable {
    /// The algorithms of keys with a public half. The file must not contain symmetric keys.
    static let algorithms: Set<String> = [
        "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA",
    ]

    struct Provider: Sendable {
        let issuers: Set<String>
        let audiences: Set<String>
        let keys: JWTKeyCollection
    }

    private(set) var providers: [String: Provider] = [:]
    private(set) var customTokens: JWTKeyCollection?

    /// Makes a value that trusts no provider.
    public init() {}

    private struct File: Decodable {
        struct Entry: Decodable {
            let issuers: [String]
            let audiences: [String]
            let jwks: JWKS
        }
        struct Custom: Decodable { let jwks: JWKS }

        let providers: [String: Entry]?
        let customTokens: Custom?
    }

    /// - Throws: ``ProviderKeysError`` with a sentence.
    public init(json data: Data) async throws(ProviderKeysError) {
        guard AccountsJSON.isShallow(data),
            let file = try? JSONDecoder().decode(File.self, from: data)
        else {
            throw ProviderKeysError(
                message: """
                    The file must be {"providers": {NAME: {"issuers": […], "audiences": […], "jwks": \
                    {"keys": […]}}}, "customTokens": {"jwks": …}}.
                    """)
        }
        for (name, entry) in file.providers ?? [:] {
            if entry.issuers.isEmpty || entry.audiences.isEmpty {
                throw ProviderKeysError(message: "\(name) needs an issuer and an audience.")
            }
            providers[name] = Provider(
                issuers: Set(entry.issuers), audiences: Set(entry.audiences),
                keys: try await Self.collection(entry.jwks, of: name))
        }
        if let custom = file.customTokens {
            customTokens = try await Self.collection(custom.jwks, of: "customTokens")
        }
    }

    private static func collection(
        _ jwks: JWKS, of name: String
    ) async throws(ProviderKeysError) -> JWTKeyCollection {
        let collection = JWTKeyCollection()
        for key in jwks.keys {
            let isPublic = [.rsa, .ecdsa, .octetKeyPair].contains(key.keyType)
            do {
                if !isPublic { throw ProviderKeysError(message: "of a kind that is not public") }
                try await collection.add(jwk: key)
            } catch {
                throw ProviderKeysError(
                    message: """
                        A key of \(name) is not valid. Each key needs kty, kid and its numbers.
                        """
                )
            }
        }
        return collection
    }
}

/// The reason why keys cannot be used.
public struct ProviderKeysError: Error, Hashable, Sendable, CustomStringConvertible {
    public let message: String

    public init(message: String) { self.message = message }

    public var description: String { message }
}

extension TokenDesk {
    /// Returns the identity from a provider's answer.
    ///
    /// An access token has a meaning only for its provider, and this server sends no requests to
    /// providers. If tokens are unsigned, the access token may contain the claims, as JSON text or
    /// as a token with three parts, because the libraries of Facebook and GitHub have no other
    /// token.
    ///
    /// - Parameter body: The answer as a form: `id_token=…&providerId=apple.com&nonce=…`.
    func identity(_ body: String) async throws(AccountRefusal) -> ProviderIdentity {
        guard let form = AccountsJSON.form(body), let provider = form["providerId"],
            !provider.isEmpty, provider.utf8.count <= 256
        else { throw AccountRefusal("INVALID_CREDENTIAL_OR_PROVIDER_ID : providerId is missing.") }
        let idToken = form["id_token"].flatMap { $0.isEmpty ? nil : $0 }
        let claimsInAccessToken = mode == .secure ? nil : form["access_token"]
        guard let token = idToken ?? claimsInAccessToken, !token.isEmpty else {
            throw AccountRefusal(
                "INVALID_IDP_RESPONSE : An id_token is needed; an access_token is not enough.")
        }
        let claims: [String: JSONTree]
        do {
            claims = try await providerClaims(token, provider, nonce: form["nonce"])
        } catch let refusal as AccountRefusal where refusal != .invalidIDToken {
            throw refusal
        } catch { throw Self.unreadable(isIDToken: idToken != nil, provider) }
        guard case .text(let subject)? = claims["sub"], (1...512).contains(subject.utf8.count)
        else { throw AccountRefusal("INVALID_IDP_RESPONSE : The token has no sub.") }
        var identity = ProviderIdentity(providerID: provider, rawID: subject)
        identity.email = Self.text(claims["email"])
        identity.isEmailVerified = Self.isTrue(claims["email_verified"])
        identity.displayName = Self.text(claims["name"])
        identity.photoURL = Self.text(claims["picture"])
        identity.screenName = Self.text(claims["screen_name"])
        identity.rawUserInfo = String(decoding: AccountsJSON.data(claims), as: UTF8.self)
        identity.idToken = idToken
        identity.accessToken = form["access_token"]
        return identity
    }

    private static func unreadable(isIDToken: Bool, _ provider: String) -> AccountRefusal {
        if isIDToken { return AccountRefusal("INVALID_IDP_RESPONSE : The id_token is not valid.") }
        return AccountRefusal(
            """
            INVALID_IDP_RESPONSE : This server does not check an access_token with \(provider). \
            Send an id_token, or instead the claims as JSON text: {"sub": "1", "email": \
            "ann@example.com"}.
            """)
    }

    private func providerClaims(
        _ token: String, _ provider: String, nonce: String?
    ) async throws -> [String: JSONTree] {
        guard mode == .secure else {
            if token.hasPrefix("{") { return AccountsJSON.object(Data(token.utf8)) ?? [:] }
            return try Self.unverified(token)
        }
        guard let known = providers.providers[provider] else {
            throw AccountRefusal(
                """
                OPERATION_NOT_ALLOWED : \(provider) is not configured on this server.
                """)
        }
        let claims = try await verified(
            token, known.keys, algorithms: ProviderKeys.algorithms)
        let seconds = now() / 1_000
        var audiences: [String] = []
        switch claims["aud"] {
        case .text(let one)?: audiences = [one]
        case .list(let all)?: audiences = all.compactMap(Self.text)
        default: break
        }
        guard let issuer = Self.text(claims["iss"]), known.issuers.contains(issuer),
            !known.audiences.isDisjoint(with: audiences),
            let expiry = claims["exp"].integer, expiry > seconds,
            claims["iat"].integer ?? 0 <= seconds + 300, Self.hasBegun(claims, at: seconds)
        else { throw AccountRefusal.invalidIDToken }
        // Apple's token contains the digest of the app's nonce. Google's token contains the nonce
        // itself.
        if let expected = Self.text(claims["nonce"]) {
            let digest = SHA256.hash(data: Data((nonce ?? "").utf8))
            let text = digest.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }
            guard let nonce, expected == nonce || expected == text.joined() else {
                throw AccountRefusal("MISSING_OR_INVALID_NONCE")
            }
        }
        return claims
    }

    /// Returns false if the token becomes valid later than the tolerance of 5 minutes for different
    /// clocks.
    /// False for a token that is good only later, by more than clocks differ, or from a time that
    /// cannot be read.
    static func hasBegun(_ claims: [String: JSONTree], at seconds: Int64) -> Bool {
        guard let begin = claims["nbf"], begin != .null else { return true }
        return claims["nbf"].integer.map { $0 <= seconds + 300 } ?? false
    }

    private static func text(_ value: JSONTree?) -> String? {
        if case .text(let text)? = value, text.utf8.count <= 2_048 { text } else { nil }
    }

    /// True for `true` and for the text "true", which Apple writes.
    private static func isTrue(_ value: JSONTree?) -> Bool {
        value == .bool(true) || value == .text("true")
    }
}
