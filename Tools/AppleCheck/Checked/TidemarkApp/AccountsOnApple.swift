// Replacements of types of the accounts whose files need the client and the words.

public enum AccountError: Error, Hashable, Sendable {
    case wrongCredentials, addressTaken, addressInvalid, accountDisabled, accountGone
    case sessionExpired, needsRecentSignIn, alreadyLinked, tooManyAttempts, notAllowed, signedOut
    case passwordWeak(String), providerRefused(String), keyRefused(String)
    case unreachable(String), refused(String)
    case storage(CredentialStoreError)
}

public struct UserID: Hashable, Sendable {
    public let text: String
}
