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

/// What a session consists of. It prints as its user alone.
struct StoredSession: Codable, Sendable {
    var user: UserID
    var idToken: String
    var refreshToken: String
    /// When the token runs out, in seconds since 1970 by this device's clock.
    var expires: Int64
    /// The installation that wrote it: a keychain outlives the app, and its data does not.
    var installation: String
    /// Whether a sign-up that is not over has made it.
    var isOfSignUp: Bool
}

extension StoredSession: CustomStringConvertible, CustomReflectable {
    var description: String { "StoredSession(\(user))" }
    var customMirror: Mirror { Mirror(self, children: []) }
}

/// What a sign-up makes its account with. It prints as nothing.
struct SignUpSecret: Codable, Hashable, Sendable {
    var password: String?
    /// A provider's token, or a custom one.
    var token: String?
    var nonce: String?
}

extension SignUpSecret: CustomStringConvertible, CustomReflectable {
    var description: String { "SignUpSecret" }
    var customMirror: Mirror { Mirror(self, children: []) }
}
