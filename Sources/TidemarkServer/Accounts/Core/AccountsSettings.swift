package import TidemarkModel

/// How accounts are kept.
public struct AccountsSettings: Hashable, Sendable {
    public enum Mode: String, Hashable, Sendable, CaseIterable {
        /// Unsigned tokens, no limits and an administrator named `owner`: what tools for Firebase expect.
        case emulator
        /// Signed tokens, slow password hashes, refresh tokens that change with each use, limits on attempts.
        case secure
    }

    public var mode: Mode
    /// The project of callers that name none: clients of apps have a key, not a project.
    public var project: String
    /// How many attempts are allowed.
    package var limits = AttemptLimits()
    /// What new passwords are kept as.
    package var passwords: PasswordScheme

    public init(_ mode: Mode = .emulator, project: String = "demo") {
        self.mode = mode
        self.project = project
        passwords = mode == .secure ? .strong : .quick
    }

    /// Whether a project can be named so. Source: Google Cloud's project ids, those of domains too.
    package static func isProject(_ text: String) -> Bool {
        let isPlain = text.utf8.allSatisfy {
            switch $0 {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"),
                UInt8(ascii: "."), UInt8(ascii: ":"):
                true
            default: false
            }
        }
        return isPlain && (1...128).contains(text.utf8.count) && text != "." && text != ".."
    }
}

/// What accounts may not decide for themselves.
package struct AccountsEnvironment: Sendable {
    package var now: @Sendable () -> Timestamp
    /// So many bytes that nobody can guess.
    package var randomBytes: @Sendable (Int) -> [UInt8]
    /// A cryptographic digest; the same bytes always have the same.
    package var digest: @Sendable ([UInt8]) -> [UInt8]

    package init(
        now: @escaping @Sendable () -> Timestamp,
        randomBytes: @escaping @Sendable (Int) -> [UInt8],
        digest: @escaping @Sendable ([UInt8]) -> [UInt8]
    ) {
        self.now = now
        self.randomBytes = randomBytes
        self.digest = digest
    }
}
