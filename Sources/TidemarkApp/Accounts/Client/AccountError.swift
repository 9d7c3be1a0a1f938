import Tidemark
public import TidemarkWords

/// The reason why a request to an account failed.
public enum AccountError: Error, Hashable, Sendable {
    /// The address or the password is wrong; the server does not say which.
    case wrongCredentials
    case addressTaken
    case addressInvalid
    /// The password is too weak. The text is the server's reason.
    case passwordWeak(String)
    case accountDisabled
    /// The account does not exist any longer.
    case accountGone
    /// The server accepts neither the token nor the refresh token.
    case sessionExpired
    /// The sign-in is too old for the request.
    case needsRecentSignIn
    /// Another account already has that provider's identity.
    case alreadyLinked
    /// The server refused the provider's token: it has expired, or is for another project.
    case providerRefused(String)
    case tooManyAttempts
    /// The project does not allow this way to sign in.
    case notAllowed
    /// The API key accepts only other apps: its restriction does not list the bundle identifier
    /// that the app sent. See ``AccountsEndpoint/cloud(key:bundleID:)``. The text is the server's.
    case keyRefused(String)
    /// No user is signed in.
    case signedOut
    /// The credential store could not be read or written.
    case storage(CredentialStoreError)
    /// No answer arrived. The server may have executed the request.
    case unreachable(String)
    /// The first factor was correct: continue with ``Accounts/signIn(_:with:code:)``.
    case needsSecondFactor(SecondFactorChallenge)
    /// The text is no phone number, or has no country code.
    case phoneInvalid
    /// The code differs from the sent code.
    case wrongCode
    /// The code has expired: request another.
    case codeExpired
    /// Another refusal; the text is the server's word.
    case refused(String)

    public enum Recovery: Hashable, Sendable {
        case waitForNetwork, retryLater, signIn, correctInput, unlockDevice, freeSpace, none
    }

    public var recovery: Recovery {
        switch self {
        case .wrongCredentials, .addressTaken, .addressInvalid, .passwordWeak, .alreadyLinked,
            .needsSecondFactor, .phoneInvalid, .wrongCode, .codeExpired:
            .correctInput
        case .sessionExpired, .needsRecentSignIn, .signedOut, .providerRefused, .accountGone:
            .signIn
        case .tooManyAttempts, .refused: .retryLater
        case .accountDisabled, .notAllowed, .keyRefused: .none
        case .storage(.locked): .unlockDevice
        case .storage(.failed): .freeSpace
        case .unreachable: .waitForNetwork
        }
    }

    /// The sentence in the language of the app.
    public var message: String { sentence.localized() }

    /// A sentence for the person using the app. Names no type, code or path.
    public var sentence: Sentence {
        switch self {
        case .wrongCredentials:
            Sentence("account.wrongCredentials", "The address or the password is wrong.")
        case .addressTaken:
            Sentence(
                "account.addressTaken",
                "This address already has an account. Sign in instead.")
        case .addressInvalid: Sentence("account.addressInvalid", "This isn't an e-mail address.")
        case .passwordWeak: Sentence("account.passwordWeak", "Please choose a longer password.")
        case .accountDisabled:
            Sentence("account.accountDisabled", "This account has been disabled.")
        case .sessionExpired, .signedOut:
            Sentence("account.sessionExpired", "Please sign in again.")
        case .needsRecentSignIn:
            Sentence("account.needsRecentSignIn", "Please sign in again to confirm this.")
        case .alreadyLinked:
            Sentence("account.alreadyLinked", "Another account already uses this sign-in.")
        case .providerRefused:
            Sentence("account.providerRefused", "That sign-in didn't work. Please try it again.")
        case .tooManyAttempts:
            Sentence("account.tooManyAttempts", "Too many attempts. Please try again later.")
        case .accountGone: Sentence("account.accountGone", "This account no longer exists.")
        case .notAllowed: Sentence("account.notAllowed", "This sign-in method isn't available.")
        case .storage(.locked): Sentence("account.storageLocked", "Unlock your device to continue.")
        case .storage(.failed):
            Sentence("account.storageFailed", "This device can't keep your sign-in right now.")
        case .unreachable:
            Sentence(
                "account.unreachable",
                "The server can't be reached right now. Please try again later.")
        case .needsSecondFactor:
            Sentence("account.needsSecondFactor", "Please confirm this with your phone.")
        case .phoneInvalid:
            Sentence("account.phoneInvalid", "Enter the number with its country code.")
        case .wrongCode: Sentence("account.wrongCode", "This code is wrong.")
        case .codeExpired:
            Sentence("account.codeExpired", "This code has expired. Request a new one.")
        case .keyRefused, .refused:
            Sentence("account.refused", "Something went wrong. Please try again later.")
        }
    }

    /// Creates the error from the word that the server sends: `EMAIL_EXISTS`, or
    /// `WEAK_PASSWORD : and why`. Source: server-protocol 4, server-production-facts 10.
    init(serverWord text: String) {
        let word = text.prefix { !" :".contains($0) }
        let detail = text.dropFirst(word.count).drop { " :".contains($0) }
        self =
            switch word {
            case "EMAIL_NOT_FOUND", "INVALID_PASSWORD", "INVALID_LOGIN_CREDENTIALS":
                .wrongCredentials
            case "EMAIL_EXISTS": .addressTaken
            case "INVALID_EMAIL", "MISSING_EMAIL": .addressInvalid
            case "WEAK_PASSWORD", "MISSING_PASSWORD", "PASSWORD_DOES_NOT_MEET_REQUIREMENTS":
                .passwordWeak(String(detail))
            case "USER_DISABLED": .accountDisabled
            case "TOKEN_EXPIRED", "INVALID_REFRESH_TOKEN", "INVALID_ID_TOKEN",
                "MISSING_REFRESH_TOKEN":
                .sessionExpired
            case "USER_NOT_FOUND": .accountGone
            case "CREDENTIAL_TOO_OLD_LOGIN_AGAIN": .needsRecentSignIn
            case "FEDERATED_USER_ID_ALREADY_LINKED", "PROVIDER_ALREADY_LINKED": .alreadyLinked
            case "INVALID_PHONE_NUMBER", "MISSING_PHONE_NUMBER": .phoneInvalid
            case "INVALID_CODE", "MISSING_CODE": .wrongCode
            case "SESSION_EXPIRED", "INVALID_SESSION_INFO", "INVALID_MFA_PENDING_CREDENTIAL":
                .codeExpired
            case "SECOND_FACTOR_EXISTS": .alreadyLinked
            case "INVALID_IDP_RESPONSE", "INVALID_CUSTOM_TOKEN", "CREDENTIAL_MISMATCH",
                "MISSING_OR_INVALID_NONCE", "INVALID_CREDENTIAL_OR_PROVIDER_ID":
                .providerRefused(String(detail))
            case "TOO_MANY_ATTEMPTS_TRY_LATER", "QUOTA_EXCEEDED", "RESET_PASSWORD_EXCEED_LIMIT":
                .tooManyAttempts
            case "OPERATION_NOT_ALLOWED", "ADMIN_ONLY_OPERATION", "PASSWORD_LOGIN_DISABLED":
                .notAllowed
            default: .refused(String(word))
            }
    }

    /// The status for a call of the engine that waits for a token.
    var status: RPCStatus {
        switch self {
        case .unreachable(let detail):
            RPCStatus(.unavailable, "The accounts server did not answer: \(detail)")
        case .storage: RPCStatus(.unavailable, "The credentials cannot be read now.")
        case .tooManyAttempts, .refused:
            RPCStatus(.unavailable, "The accounts server sent no token: \(self)")
        case .keyRefused(let text):
            RPCStatus(
                .unauthenticated,
                "The API key does not accept this app. Check the bundle identifier: \(text)")
        default: RPCStatus(.unauthenticated, "The session has ended: \(self)")
        }
    }
}
