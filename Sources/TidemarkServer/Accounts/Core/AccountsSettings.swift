package import TidemarkModel

/// The settings of the accounts.
public struct AccountsSettings: Hashable, Sendable {
    public enum Mode: String, Hashable, Sendable, CaseIterable {
        /// Unsigned tokens, no limits and an administrator named `owner`, as tools for Firebase
        /// expect.
        case emulator
        /// Signed tokens, slow password hashes, refresh tokens that change with each use, and
        /// limits on attempts.
        case secure
    }

    public var mode: Mode
    /// The project of callers that name none: clients of apps have a key, but no project.
    public var project: String
    /// The bundle identifier to which the API keys of clients are restricted; nil accepts every
    /// app. A call of a client with another identifier, or with none, is refused as in production.
    public var iosBundleID: String?
    /// The limits on attempts.
    package var limits = AttemptLimits()
    /// The scheme of new passwords.
    package var passwords: PasswordScheme

    public init(_ mode: Mode = .emulator, project: String = "demo") {
        self.mode = mode
        self.project = project
        passwords = mode == .secure ? .strong : .quick
    }

    /// Returns true if the text is a valid project id. Source: Google Cloud's project ids,
    /// including those with a domain.
    package static func isProject(_ text: String) -> Bool {
        AccountPool.isPlain(text, or: "-_.:") && (1...128).contains(text.utf8.count)
            && text != "." && text != ".."
    }
}

/// The inputs that the accounts core takes from outside.
package struct AccountsEnvironment: Sendable {
    package var now: @Sendable () -> Timestamp
    /// Returns the given number of unpredictable bytes.
    package var randomBytes: @Sendable (Int) -> [UInt8]
    /// Returns a cryptographic digest, which is the same for the same bytes.
    package var digest: @Sendable ([UInt8]) -> [UInt8]
    /// Returns the HMAC with SHA-1 of a key and a message.
    package var authenticate: @Sendable ([UInt8], [UInt8]) -> [UInt8]

    package init(
        now: @escaping @Sendable () -> Timestamp,
        randomBytes: @escaping @Sendable (Int) -> [UInt8],
        digest: @escaping @Sendable ([UInt8]) -> [UInt8],
        authenticate: @escaping @Sendable ([UInt8], [UInt8]) -> [UInt8]
    ) {
        self.now = now
        self.randomBytes = randomBytes
        self.digest = digest
        self.authenticate = authenticate
    }
}
