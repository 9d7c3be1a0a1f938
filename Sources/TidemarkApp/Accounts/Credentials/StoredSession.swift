/// The contents of a session. Its description contains only the user.
struct StoredSession: Codable, Sendable {
    var user: UserID
    var idToken: String
    var refreshToken: String
    /// The time when the token expires, in seconds since 1970 by this device's clock.
    var expires: Int64
    /// The installation that wrote the session: a keychain outlives the app, and the app's data do
    /// not.
    var installation: String
    /// True if an unfinished sign-up created the session.
    var isOfSignUp: Bool
    /// Apple's id of the user, if the session began with Apple; otherwise nil.
    var appleUser: String?
}

extension StoredSession: CustomStringConvertible, CustomReflectable {
    var description: String { "StoredSession(\(user))" }
    var customMirror: Mirror { Mirror(self, children: []) }
}

/// The secrets with which a sign-up creates its account. The description contains none of them.
struct SignUpSecret: Codable, Hashable, Sendable {
    var password: String?
    /// A provider's token, or a custom token.
    var token: String?
    var nonce: String?
}

extension SignUpSecret: CustomStringConvertible, CustomReflectable {
    var description: String { "SignUpSecret" }
    var customMirror: Mirror { Mirror(self, children: []) }
}
