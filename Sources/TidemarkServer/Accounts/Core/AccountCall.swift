/// One call about accounts, as its HTTP shell understood it: what was asked, by whom, and what the
/// tokens in it were found to say. Signatures are the shell's work; what follows from them is decided
/// in ``AccountsCore``.
package struct AccountCall: Sendable {
    package let method: AccountMethod
    package var project: String
    package let fields: AccountFields
    /// Whether it comes from an administrator: the server's own token, or `owner` where tokens are unsigned.
    package var isAdmin = false
    /// Where it came from, for the limits on attempts. No port, so that connections count together.
    package var address = ""
    /// Where the caller found the server, for links to it: as in `http://127.0.0.1:9099`.
    package var origin = ""
    /// What the field `idToken` says, once its signature was found right.
    package var token: TokenFacts?
    /// What the field `token` of a custom sign-in says.
    package var custom: CustomTokenFacts?
    /// Who a provider says this is.
    package var identity: ProviderIdentity?

    package init(_ method: AccountMethod, project: String, fields: AccountFields) {
        self.method = method
        self.project = project
        self.fields = fields
    }
}

/// What can be asked.
package enum AccountMethod: String, Hashable, Sendable, CaseIterable {
    case signUp, signInWithPassword, signInWithCustomToken, signInWithIdp, signInWithEmailLink
    case lookup, update, delete, refresh, revokeToken
    case sendOobCode, resetPassword, createAuthUri, createSessionCookie
    case sendVerificationCode, signInWithPhoneNumber
    case create, batchGet, batchCreate, batchDelete, query
    case clearAccounts, getConfig, updateConfig, listOobCodes, listVerificationCodes
    case createProvider, getProvider, listProviders, updateProvider, deleteProvider

    /// Whether only an administrator may ask it.
    package var isForAdmins: Bool {
        switch self {
        case .create, .batchGet, .batchCreate, .batchDelete, .query, .createSessionCookie,
            .clearAccounts, .getConfig, .updateConfig, .listOobCodes, .listVerificationCodes,
            .createProvider, .getProvider, .listProviders, .updateProvider, .deleteProvider:
            true
        default: false
        }
    }

    /// Whether it leaves everything as it is.
    var isRead: Bool {
        switch self {
        case .lookup, .batchGet, .query, .createAuthUri, .createSessionCookie, .getConfig,
            .listOobCodes, .listVerificationCodes, .getProvider, .listProviders:
            true
        default: false
        }
    }
}

/// What a token of ours says. Times in seconds since 1970.
package struct TokenFacts: Hashable, Sendable {
    package var project: String
    package var localID: String
    package var issuedAt: Int64
    package var authTime: Int64
    package var expiresAt: Int64
    package var claims: [String: JSONTree]

    /// Nil where a claim is missing that each of our tokens has.
    package init?(_ claims: [String: JSONTree], issuer: String = Self.issuer) {
        guard let project = claims["aud"].text, let localID = claims["sub"].text,
            !localID.isEmpty, claims["iss"].text == issuer + project,
            let issuedAt = claims["iat"].integer, let expiresAt = claims["exp"].integer
        else { return nil }
        self.project = project
        self.localID = localID
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
        authTime = claims["auth_time"].integer ?? issuedAt
        self.claims = claims
    }

    package static let issuer = "https://securetoken.google.com/"
    package static let cookieIssuer = "https://session.firebase.google.com/"

    /// How the holder signed in; nil where the token does not say.
    var provider: String? { claims["firebase"]?.fields?["sign_in_provider"].text }
}

/// Whom a custom token signs in, and what it wants said in the tokens that follow.
package struct CustomTokenFacts: Hashable, Sendable {
    package var localID: String
    package var claims: [String: JSONTree]

    package init(localID: String, claims: [String: JSONTree]) {
        self.localID = localID
        self.claims = claims
    }
}

/// Who somebody is at a provider: what its token says.
package struct ProviderIdentity: Hashable, Sendable {
    package var providerID: String
    package var rawID: String
    package var email: String?
    package var isEmailVerified = false
    package var displayName: String?
    package var photoURL: String?
    /// The name by which the provider's users know each other, as GitHub's `octocat`.
    package var screenName: String?
    /// All that the token said, as JSON text.
    package var rawUserInfo = "{}"
    package var idToken: String?
    package var accessToken: String?

    package init(providerID: String, rawID: String) {
        self.providerID = providerID
        self.rawID = rawID
    }
}

/// What a call is answered.
package struct AccountReply: Sendable {
    package var fields: [String: JSONTree]
    /// The claims of a token that is to be signed and put into the fields named.
    package var claims: [String: JSONTree]?
    package var tokenFields: [String] = []

    /// What the caller is told instead, after what was changed is kept.
    var refusal: AccountRefusal?

    package init(_ fields: [String: JSONTree]) { self.fields = fields }

    init(refusal: AccountRefusal) {
        fields = [:]
        self.refusal = refusal
    }
}

extension JSONTree? {
    package var integer: Int64? {
        switch self {
        case .integer(let value)?: value
        case .number(let value)? where value.magnitude < 9e15: Int64(value)
        case .text(let text)?: Int64(text)
        default: nil
        }
    }

    package var flag: Bool? { if case .bool(let value)? = self { value } else { nil } }
}
