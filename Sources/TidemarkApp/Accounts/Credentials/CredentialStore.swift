/// Where secrets of an app are kept: a file, or the system's keychain.
///
/// Reading has three ends, and they are not mixed up: there is one, there is none, and nobody can say.
/// Only the second one means that nobody is signed in.
public protocol CredentialStore: Sendable {
    /// - Returns: Nil only when the store could be read and has none.
    func read(_ key: CredentialKey) throws(CredentialStoreError) -> [UInt8]?
    /// Is on disk, whole, when it returns; nil removes.
    func write(_ key: CredentialKey, _ secret: [UInt8]?) throws(CredentialStoreError)
}

public enum CredentialKey: String, Hashable, Sendable, CaseIterable {
    /// The tokens of who is signed in.
    case session
    /// What a sign-up makes its account with, until it is over.
    case signUp
}

public enum CredentialStoreError: Error, Hashable, Sendable {
    /// It cannot be read before the device is unlocked.
    case locked
    /// It cannot be read or written; with the reason, for the log.
    case failed(String)
}
