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
    /// Apple's id of the person who has begun it with Apple; nil for any other.
    var appleUser: String?
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
