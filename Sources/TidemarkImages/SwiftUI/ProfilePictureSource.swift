/// The source of users' pictures for views: ``ProfilePictures``, or a replacement in a preview.
public protocol ProfilePictureSource: Sendable {
    /// Returns the picture of a user if the user is known; the inner nil for a user without a
    /// picture. Never waits.
    func known(_ user: String) -> ProfilePicture??

    /// Returns the picture of a user, and later each other picture of the same user.
    ///
    /// - Parameter user: The user's id.
    /// - Returns: A stream for one reader, in which nil stands for no picture. It ends after a
    ///   failed lookup, with the lookup's error. A slow reader skips to the newest picture.
    func pictures(of user: String) -> AsyncThrowingStream<ProfilePicture?, any Error>
}
