/// The state of a user's Apple credential on this device.
public enum AppleCredentialState: Hashable, Sendable {
    case authorized
    /// The user has withdrawn the permission.
    case revoked
    /// The device does not know the credential.
    case notFound
    /// The app moves to another team.
    case transferred
}

/// Looks up Apple credentials: the system, or a test's replacement.
public protocol AppleCredentials: Sendable {
    /// Asks the system, not Apple's servers.
    ///
    /// - Parameter user: Apple's id of the user.
    /// - Returns: The state; nil while the system cannot tell.
    func state(of user: String) async -> AppleCredentialState?
    /// An element for each withdrawal of a permission while the app runs.
    var revocations: AsyncStream<Void> { get }
}
