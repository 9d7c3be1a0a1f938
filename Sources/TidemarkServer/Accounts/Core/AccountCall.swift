/// A call about accounts, as the HTTP shell has decoded it: the request, its caller, and the
/// contents of its tokens. The shell verifies signatures; ``AccountsCore`` makes all other
/// decisions.
package struct AccountCall: Sendable {
    package let method: AccountMethod
    package var pool: AccountPool
    package let fields: AccountFields
    /// True if an administrator calls: with the server's own token, or as `owner` if tokens are
    /// unsigned.
    package var isAdmin = false
    /// The caller's address, for the limits on attempts. It has no port, because all connections of
    /// a caller count together.
    package var address = ""
    /// The server's origin for links in replies, such as `http://127.0.0.1:9099`.
    package var origin = ""
    /// The contents of the field `idToken`, after its signature was verified.
    package var token: TokenFacts?
    /// The contents of the field `token` of a custom sign-in.
    package var custom: CustomTokenFacts?
    /// The user's identity at a provider.
    package var identity: ProviderIdentity?
    /// The caller's program, for the project's blocking functions.
    package var userAgent = ""
    /// The answers of the blocking functions that this call has asked.
    package var answers: [BlockingAnswer] = []

    package init(
        _ method: AccountMethod, project: String, tenant: String? = nil, fields: AccountFields
    ) {
        self.method = method
        pool = AccountPool(project: project, tenant: tenant)
        self.fields = fields
    }
}

/// The methods of calls about accounts.
package enum AccountMethod: String, Hashable, Sendable, CaseIterable {
    case signUp, signInWithPassword, signInWithCustomToken, signInWithIdp, signInWithEmailLink
    case lookup, update, delete, refresh, revokeToken
    case sendOobCode, resetPassword, createAuthUri, createSessionCookie
    case sendVerificationCode, signInWithPhoneNumber
    case beginFactorEnrolment, finishFactorEnrolment, withdrawFactor
    case beginFactorSignIn, finishFactorSignIn
    case create, batchGet, batchCreate, batchDelete, query
    case clearAccounts, getConfig, updateConfig, listOobCodes, listVerificationCodes
    case createProvider, getProvider, listProviders, updateProvider, deleteProvider
    case createTenant, getTenant, listTenants, updateTenant, deleteTenant

    /// True if only an administrator may call the method.
    package var isForAdmins: Bool {
        switch self {
        case .create, .batchGet, .batchCreate, .batchDelete, .query, .createSessionCookie,
            .clearAccounts, .getConfig, .updateConfig, .listOobCodes, .listVerificationCodes,
            .createProvider, .getProvider, .listProviders, .updateProvider, .deleteProvider,
            .createTenant, .getTenant, .listTenants, .updateTenant, .deleteTenant:
            true
        default: false
        }
    }

    /// True if the method changes nothing.
    var isRead: Bool {
        switch self {
        case .lookup, .batchGet, .query, .createAuthUri, .createSessionCookie, .getConfig,
            .listOobCodes, .listVerificationCodes, .getProvider, .listProviders, .getTenant,
            .listTenants, .beginFactorSignIn:
            true
        default: false
        }
    }
}

/// The contents of a token from this server. Times are in seconds since 1970.
package struct TokenFacts: Hashable, Sendable {
    package var project: String
    /// The tenant of the account; nil for an account of the project itself.
    package var tenant: String?
    package var localID: String
    package var issuedAt: Int64
    package var authTime: Int64
    package var expiresAt: Int64
    package var claims: [String: JSONTree]
    /// The first half of the signature, which nobody can change without the key; nil without one.
    package var signature: String?

    /// Returns nil if a claim is missing that every token of this server has.
    package init?(_ claims: [String: JSONTree], issuer: String = Self.issuer) {
        guard let project = claims["aud"].text, let localID = claims["sub"].text,
            !localID.isEmpty, claims["iss"].text == issuer + project,
            let issuedAt = claims["iat"].integer, let expiresAt = claims["exp"].integer
        else { return nil }
        self.project = project
        tenant = claims["firebase"]?.fields?["tenant"].text
        self.localID = localID
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
        authTime = claims["auth_time"].integer ?? issuedAt
        self.claims = claims
    }

    package static let issuer = "https://securetoken.google.com/"
    package static let cookieIssuer = "https://session.firebase.google.com/"

    package var pool: AccountPool { AccountPool(project: project, tenant: tenant) }

    /// The provider of the sign-in; nil if the token does not contain it.
    var provider: String? { claims["firebase"]?.fields?["sign_in_provider"].text }
}

/// The account that a custom token signs in, and the claims for its later tokens.
package struct CustomTokenFacts: Hashable, Sendable {
    package var localID: String
    package var claims: [String: JSONTree]
    /// The tenant of the account; nil for an account of the project itself.
    package var tenant: String?

    package init(localID: String, claims: [String: JSONTree], tenant: String? = nil) {
        self.localID = localID
        self.claims = claims
        self.tenant = tenant
    }
}

/// A user's identity at a provider, from the provider's token.
package struct ProviderIdentity: Hashable, Sendable {
    package var providerID: String
    package var rawID: String
    package var email: String?
    package var isEmailVerified = false
    package var displayName: String?
    package var photoURL: String?
    /// The user's public name at the provider, such as GitHub's `octocat`.
    package var screenName: String?
    /// The claims of the provider's token, as JSON text.
    package var rawUserInfo = "{}"
    package var idToken: String?
    package var accessToken: String?

    package init(providerID: String, rawID: String) {
        self.providerID = providerID
        self.rawID = rawID
    }
}

/// The reply to a call.
package struct AccountReply: Sendable {
    package var fields: [String: JSONTree]
    /// The claims of a token. The shell signs the token and adds it in ``tokenFields``.
    package var claims: [String: JSONTree]?
    package var tokenFields: [String] = []
    /// The place of the call in the order of all, for ``AccountsCore/noteIssue(of:mark:)``.
    package var mark: Int64 = 0

    /// The error that the caller receives. The changes of the call are kept.
    var refusal: AccountRefusal?
    /// The question that a function must answer before the call can be decided. The call has
    /// changed nothing.
    package var question: BlockingQuestion?

    package init(_ fields: [String: JSONTree]) { self.fields = fields }

    init(refusal: AccountRefusal) {
        fields = [:]
        self.refusal = refusal
    }

    init(question: BlockingQuestion) {
        fields = [:]
        self.question = question
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
