public import Foundation

/// The access to the objects of a bucket, for pictures with `gs://` addresses. `Storage` of
/// `TidemarkFiles` has both functions.
///
/// ```swift
/// var environment = ImageEnvironment()
/// environment.bucket = PictureBucket(
///     userID: { storage.userID }, request: storage.downloadRequest(for:of:afterRefusal:))
/// ```
///
/// The rules of Storage decide by the user, so each user has their own pictures in memory and on
/// disk. Tokens are no part of a picture's key.
public struct PictureBucket: Sendable {
    /// Returns the request of an object, with the tokens of a user.
    ///
    /// - Parameters:
    ///   - url: The `gs://` address.
    ///   - userID: The user who requested the picture; nil if nobody was signed in.
    ///   - afterRefusal: True if the server answered 401 to the last token, which is replaced.
    /// - Returns: An `http` or `https` address and header fields; nil if the address is of another
    ///   bucket.
    /// - Throws: Any error if there is no token of this user now.
    public typealias Request =
        @Sendable (_ url: URL, _ userID: String?, _ afterRefusal: Bool) async throws -> (
            address: String, fields: [String: String]
        )?

    let userID: @Sendable () -> String?
    let request: Request

    /// - Parameters:
    ///   - userID: Returns the signed-in user; nil if nobody is signed in.
    ///   - request: Returns the request of an object.
    public init(userID: @escaping @Sendable () -> String?, request: @escaping Request) {
        self.userID = userID
        self.request = request
    }
}
