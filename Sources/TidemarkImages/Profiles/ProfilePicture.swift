public import Foundation

/// The address and version of a user's picture.
public struct ProfilePicture: Hashable, Sendable {
    public let url: URL
    /// A text that changes with the picture: a counter, a digest, a time. With a version, the
    /// server is never asked whether the picture is still valid; without a version, the rules of
    /// HTTP apply.
    public let version: String?

    public init(_ url: URL, version: String? = nil) {
        self.url = url
        self.version = version
    }
}
