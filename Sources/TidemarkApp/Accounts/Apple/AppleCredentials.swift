/// What the system knows of a person who has signed in with Apple.
public enum AppleCredentialState: Hashable, Sendable {
    case authorized
    /// The person has taken back what they had allowed.
    case revoked
    /// The device knows nothing of it.
    case notFound
    /// The app goes to another team.
    case transferred
}

/// Where credentials of Apple are looked up: the system, or a test's.
public protocol AppleCredentials: Sendable {
    /// Asks the system, not Apple's servers.
    ///
    /// - Parameter user: Apple's id of the person.
    /// - Returns: Nil while the system cannot say.
    func state(of user: String) async -> AppleCredentialState?
    /// One for each time that a person takes something back, while the app runs.
    var revocations: AsyncStream<Void> { get }
}
