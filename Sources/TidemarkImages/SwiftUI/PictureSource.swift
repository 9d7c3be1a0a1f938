/// The source of pictures for views: an ``ImagePipeline``, or a replacement in a preview.
public protocol PictureSource: Sendable {
    /// Returns the picture if it is in memory. Never waits.
    func cached(_ request: PictureRequest) -> Picture?
    /// - Throws: ``PictureError``, or `CancellationError`.
    func picture(_ request: PictureRequest) async throws -> LoadedPicture
}
