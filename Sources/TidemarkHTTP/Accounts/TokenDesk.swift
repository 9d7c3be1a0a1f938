import Crypto
import Foundation
import JWTKit
import Synchronization
import TidemarkServer
import TidemarkStore

/// Signs tokens, and reads tokens of this server, of providers, and of custom sign-ins.
///
/// If tokens are unsigned, as in an emulator, every token is trusted. If tokens are signed, each
/// token is verified with the keys of its issuer, and its header must name an algorithm of these
/// keys.
struct TokenDesk: Sendable {
    /// The maximum size of a token. Longer tokens are refused.
    static let maxBytes = 16_384
    /// The time, in milliseconds, in which a key signs: 90 days. The key is published for another
    /// 30 days, twice ``cookieLifetime``.
    static let keyLifetime: Int64 = 90 * 86_400_000
    private static let cookieLifetime: Int64 = 15 * 86_400_000
    static let audience =
        "https://identitytoolkit.googleapis.com/google.identity.identitytoolkit.v1.IdentityToolkit"

    let mode: AccountsSettings.Mode
    let providers: ProviderKeys
    let now: @Sendable () -> Int64
    private let own: JWTKeyCollection
    private let verifiedTokens = VerifiedTokens()
    private let signer: JWKIdentifier?
    /// The public keys, in the form in which they are published.
    let published: [[String: JSONTree]]

    /// - Parameter now: Returns the time in milliseconds since 1970.
    init(
        _ core: AccountsCore, providers: ProviderKeys, now: @escaping @Sendable () -> Int64
    ) async throws {
        mode = core.settings.mode
        self.providers = providers
        self.now = now
        own = JWTKeyCollection()
        guard mode == .secure else {
            await own.addUnsecuredNone()
            signer = nil
            published = []
            return
        }
        var published: [[String: JSONTree]] = []
        let records = try Self.keys(core, now())
        for record in records {
            let key = try P256.Signing.PrivateKey(rawRepresentation: record.key)
            let id = JWKIdentifier(string: record.id)
            await own.add(ecdsa: try ES256PrivateKey(backing: key), kid: id)
            published.append(Self.publicKey(key.publicKey, record.id))
        }
        signer = JWKIdentifier(string: records[0].id)
        self.published = published
    }

    /// Returns the keys whose tokens can still be valid. The first key signs.
    private static func keys(_ core: AccountsCore, _ now: Int64) throws -> [SigningKeyRecord] {
        var records = try core.signingKeys()
        if records.first.map({ now - $0.createdAt > keyLifetime }) ?? true {
            let key = P256.Signing.PrivateKey()
            let id = SHA256.hash(data: key.publicKey.rawRepresentation).prefix(16)
            let record = SigningKeyRecord(
                id: id.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined(),
                key: Array(key.rawRepresentation), createdAt: now)
            try core.addSigningKey(record)
            records.insert(record, at: 0)
        }
        return [records[0]]
            + records.dropFirst().filter { now - $0.createdAt < keyLifetime + cookieLifetime * 2 }
    }

    private static func publicKey(
        _ key: P256.Signing.PublicKey, _ id: String
    ) -> [String: JSONTree] {
        let point = key.rawRepresentation
        func text(_ part: Data) -> JSONTree {
            .text(
                part.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
                    .replacing("=", with: ""))
        }
        return [
            "kty": .text("EC"), "crv": .text("P-256"), "alg": .text("ES256"), "use": .text("sig"),
            "kid": .text(id), "x": text(point.prefix(32)), "y": text(point.suffix(32)),
        ]
    }

    func sign(_ claims: [String: JSONTree]) async throws(AccountRefusal) -> String {
        do {
            return try await own.sign(ClaimSet(claims), kid: signer, header: ["typ": "JWT"])
        } catch { throw AccountRefusal("INTERNAL_ERROR : A token cannot be signed.", status: 500) }
    }

    /// Returns an unsigned token, as a blocking function of an emulator expects.
    func unsigned(_ claims: [String: JSONTree]) async throws(AccountRefusal) -> String {
        do {
            let keys = await JWTKeyCollection().addUnsecuredNone()
            return try await keys.sign(ClaimSet(claims), header: ["typ": "JWT"])
        } catch { throw AccountRefusal("INTERNAL_ERROR : A token cannot be made.", status: 500) }
    }

    // MARK: Reading

    /// Returns the contents of this server's own token: an ID token or a session cookie.
    func facts(_ text: String) async throws(AccountRefusal) -> TokenFacts {
        if let known = verifiedTokens[text] { return known }
        let claims: [String: JSONTree]
        do {
            claims =
                mode == .secure
                ? try await verified(text, own, algorithms: ["ES256"]) : try Self.unverified(text)
        } catch { throw .invalidIDToken }
        guard var facts = TokenFacts(claims) else { throw .invalidIDToken }
        facts.signature = Self.signature(text)
        verifiedTokens[text] = facts
        return facts
    }

    /// Returns the first half of an ES256 signature, which identifies a token. The second half has
    /// two valid values.
    private static func signature(_ text: String) -> String? {
        guard let last = text.split(separator: ".", omittingEmptySubsequences: false).last,
            last.utf8.count >= 43
        else { return nil }
        return String(last.prefix(43))
    }

    func customToken(_ text: String) async throws(AccountRefusal) -> CustomTokenFacts {
        let invalid = AccountRefusal("INVALID_CUSTOM_TOKEN")
        var claims: [String: JSONTree]
        do {
            if mode == .secure {
                guard let keys = providers.customTokens else {
                    throw AccountRefusal("OPERATION_NOT_ALLOWED")
                }
                claims = try await verified(text, keys, algorithms: ProviderKeys.algorithms)
                guard let expiry = claims["exp"].integer, expiry > now() / 1_000,
                    Self.hasBegun(claims, at: now() / 1_000)
                else {
                    throw invalid
                }
            } else if text.hasPrefix("{") {
                if AccountClaims.hasTwinNames(Array(text.utf8)) { throw AccountRefusal.twinClaims }
                claims = AccountsJSON.object(Data(text.utf8)) ?? [:]
                claims["aud"] = .text(Self.audience)
            } else {
                claims = try Self.unverified(text)
            }
        } catch let refusal as AccountRefusal where refusal != .invalidIDToken {
            throw refusal
        } catch { throw invalid }
        guard case .text(Self.audience)? = claims["aud"] else {
            throw AccountRefusal("INVALID_CUSTOM_TOKEN : The token has another audience.")
        }
        guard case .text(let localID)? = claims["uid"] ?? claims["user_id"] else {
            throw AccountRefusal("MISSING_IDENTIFIER")
        }
        var own: [String: JSONTree] = [:]
        if case .object(let fields)? = claims["claims"] { own = fields }
        return CustomTokenFacts(localID: localID, claims: own, tenant: claims["tenant_id"].text)
    }

    /// Returns the claims of a token, without a check of its signature.
    static func unverified(_ text: String) throws -> [String: JSONTree] {
        try check(text)
        return try DefaultJWTParser().parse(Array(text.utf8), as: ClaimSet.self).payload.claims
    }

    /// - Parameter algorithms: The algorithms of keys of this kind. The header must name one of
    ///   them. The key then decides which algorithm is used.
    func verified(
        _ text: String, _ keys: JWTKeyCollection, algorithms: Set<String>
    ) async throws -> [String: JSONTree] {
        try Self.check(text)
        let header = try DefaultJWTParser().parse(Array(text.utf8), as: ClaimSet.self).header
        guard let algorithm = header.alg, algorithms.contains(algorithm) else {
            throw AccountRefusal.invalidIDToken
        }
        return try await keys.verify(text, as: ClaimSet.self).claims
    }

    /// The alphabet of tokens (RFC 7515, §2), without padding, and the dot between their parts.
    private static let letters = Set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.".utf8)

    /// Checks that the token is short, and that its three parts use the right alphabet, are not
    /// deeply nested, and have no two names that a dictionary takes as one. Libraries also accept
    /// the other alphabet of base64, with which one token would have several spellings.
    private static func check(_ text: String) throws {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard text.utf8.count <= maxBytes, parts.count == 3,
            text.utf8.allSatisfy(letters.contains)
        else { throw AccountRefusal.invalidIDToken }
        for part in parts.prefix(2) {
            var plain = String(decoding: part, as: UTF8.self)
                .replacing("-", with: "+").replacing("_", with: "/")
            while !plain.utf8.count.isMultiple(of: 4) { plain += "=" }
            guard let data = Data(base64Encoded: plain), AccountsJSON.isShallow(data) else {
                throw AccountRefusal.invalidIDToken
            }
            if AccountClaims.hasTwinNames(Array(data)) { throw AccountRefusal.twinClaims }
        }
    }
}

/// The claims of a token.
struct ClaimSet: JWTPayload {
    let claims: [String: JSONTree]

    init(_ claims: [String: JSONTree]) { self.claims = claims }

    init(from decoder: any Decoder) throws {
        guard case .object(let claims) = try JSONTree(from: decoder) else {
            throw AccountRefusal.invalidIDToken
        }
        self.claims = claims
    }

    func encode(to encoder: any Encoder) throws { try JSONTree.object(claims).encode(to: encoder) }

    /// The callers check times and names with their own clocks.
    func verify(using algorithm: some JWTAlgorithm) {}
}

/// Caches tokens with verified signatures, because a client sends the same token with every call.
/// Times and accounts are still checked in every call.
final class VerifiedTokens: Sendable {
    /// The maximum number of cached tokens. Above it, the tokens without a recent use are dropped.
    static let capacity = 4_000
    /// The maximum number of bytes of the known tokens: what they say has about as many again.
    static let maxBytes = 8 << 20

    private struct State {
        var newer: [String: TokenFacts] = [:]
        var older: [String: TokenFacts] = [:]
        /// The bytes of the tokens in `newer`.
        var bytes = 0
    }

    private let state = Mutex(State())

    /// The number of known tokens.
    var count: Int { state.withLock { $0.newer.count + $0.older.count } }

    subscript(_ token: String) -> TokenFacts? {
        get {
            state.withLock { state in
                if let facts = state.newer[token] { return facts }
                guard let facts = state.older[token] else { return nil }
                Self.keep(token, facts: facts, state: &state)
                return facts
            }
        }
        set {
            guard let newValue else { return }
            state.withLock { Self.keep(token, facts: newValue, state: &$0) }
        }
    }

    private static func keep(_ token: String, facts: TokenFacts, state: inout State) {
        let bytes = token.utf8.count
        if state.newer.count >= capacity / 2 || state.bytes + bytes > maxBytes / 2 {
            state.older = state.newer
            (state.newer, state.bytes) = ([:], 0)
        }
        if state.newer.updateValue(facts, forKey: token) == nil { state.bytes += bytes }
    }
}
