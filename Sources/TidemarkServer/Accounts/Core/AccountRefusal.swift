/// The error of a call about accounts. The text is defined by the protocol: clients compare it up
/// to its first space. Source: server-protocol 4, server-production-facts 10.
package struct AccountRefusal: Error, Hashable, Sendable {
    /// The HTTP status.
    package let status: Int
    package let message: String
    /// The reason in the answer's details, as in `API_KEY_IOS_APP_BLOCKED`; nil for no details.
    package let reason: String?

    package init(_ message: String, status: Int = 400, reason: String? = nil) {
        self.status = status
        self.message = message
        self.reason = reason
    }

    /// The refusal of a key that is restricted to another iOS app. Source: the answers of Google's
    /// servers in public bug reports.
    package static func appBlocked(_ bundleID: String?) -> AccountRefusal {
        AccountRefusal(
            "Requests from this iOS client application \(bundleID ?? "<empty>") are blocked.",
            status: 403, reason: "API_KEY_IOS_APP_BLOCKED")
    }

    static let adminOnly = AccountRefusal("ADMIN_ONLY_OPERATION")
    static let codeExpired = AccountRefusal("EXPIRED_OOB_CODE")
    static let codeInvalid = AccountRefusal("INVALID_OOB_CODE")
    static let configurationNotFound = AccountRefusal("CONFIGURATION_NOT_FOUND", status: 404)
    static let credentialTooOld = AccountRefusal("CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
    static let duplicateLocalID = AccountRefusal("DUPLICATE_LOCAL_ID")
    static let emailExists = AccountRefusal("EMAIL_EXISTS")
    static let emailNotFound = AccountRefusal("EMAIL_NOT_FOUND")
    static let federatedIDLinked = AccountRefusal("FEDERATED_USER_ID_ALREADY_LINKED")
    package static let insufficientPermission = AccountRefusal(
        "INSUFFICIENT_PERMISSION", status: 403)
    static let invalidEmail = AccountRefusal("INVALID_EMAIL")
    package static let invalidIDToken = AccountRefusal("INVALID_ID_TOKEN")
    static let invalidLocalID = AccountRefusal(
        "INVALID_LOCAL_ID : An id must have 1 to 128 characters that are valid in a document id.")
    static let invalidIdentifier = AccountRefusal("INVALID_IDENTIFIER")
    static let invalidLogin = AccountRefusal("INVALID_LOGIN_CREDENTIALS")
    static let invalidPassword = AccountRefusal("INVALID_PASSWORD")
    static let invalidNewEmail = AccountRefusal("INVALID_NEW_EMAIL")
    static let invalidPhoneNumber = AccountRefusal("INVALID_PHONE_NUMBER : Invalid format.")
    package static let invalidRefreshToken = AccountRefusal("INVALID_REFRESH_TOKEN")
    static let missingEmail = AccountRefusal("MISSING_EMAIL")
    static let missingIDToken = AccountRefusal("MISSING_ID_TOKEN")
    static let missingLocalID = AccountRefusal("MISSING_LOCAL_ID")
    static let missingPassword = AccountRefusal("MISSING_PASSWORD")
    static let operationNotAllowed = AccountRefusal("OPERATION_NOT_ALLOWED")
    static let phoneNumberExists = AccountRefusal("PHONE_NUMBER_EXISTS")
    static let providerAlreadyLinked = AccountRefusal("PROVIDER_ALREADY_LINKED")
    package static let tenantMismatch = AccountRefusal("TENANT_ID_MISMATCH")
    package static let tokenExpired = AccountRefusal("TOKEN_EXPIRED")
    static let tooManyAttempts = AccountRefusal(
        """
        TOO_MANY_ATTEMPTS_TRY_LATER : Access to this account has been disabled for a while because of \
        many failed attempts to sign in.
        """)
    package static let twinClaims = AccountRefusal(
        "INVALID_CLAIMS : Two names differ only in how an accent is composed.")
    package static let userDisabled = AccountRefusal("USER_DISABLED")
    package static let userNotFound = AccountRefusal("USER_NOT_FOUND")
    static let weakPassword = AccountRefusal(
        "WEAK_PASSWORD : Password should be at least 6 characters")

    /// Refuses a token of another project than the call's. With this server, an API key does not
    /// name a project.
    static func otherProject(of token: TokenFacts, than project: String) -> AccountRefusal {
        AccountRefusal(
            """
            INVALID_ID_TOKEN : The token belongs to the project \(token.project), but the call \
            is for \(project). This server takes the project from the path of a call, else from \
            --accounts-project, and never from an API key.
            """)
    }

    static func invalidArgument(_ detail: String) -> AccountRefusal {
        AccountRefusal("INVALID_ARGUMENT : \(detail)")
    }
}
