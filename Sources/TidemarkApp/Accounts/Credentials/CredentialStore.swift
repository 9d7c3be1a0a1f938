/// A store for the secrets of an app: a file, or the system's keychain.
///
/// A read has three distinct results: a secret, no secret, and an error. Only the second means that
/// no user is signed in.
public protocol CredentialStore: Sendable {
    /// - Returns: The secret; nil only if the store could be read and has none.
    func read(_ key: CredentialKey) throws(CredentialStoreError) -> [UInt8]?
    /// Writes the secret, or removes it for nil. The change is complete on disk when the method
    /// returns.
    func write(_ key: CredentialKey, _ secret: [UInt8]?) throws(CredentialStoreError)
}

public enum CredentialKey: String, Hashable, Sendable, CaseIterable {
    /// The tokens of the signed-in user.
    case session
    /// The secrets with which a sign-up creates its account, until the sign-up is complete.
    case signUp
}

public enum CredentialStoreError: Error, Hashable, Sendable {
    /// The store cannot be read before the device is unlocked.
    case locked
    /// The store cannot be read or written. The text is the reason, for the log.
    case failed(String)
}
