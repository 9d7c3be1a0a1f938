/// Where views get their pictures: an ``ImagePipeline``, or what stands for it in a preview.
public protocol PictureSource: Sendable {
    /// The picture, if it is in memory. Never waits.
    func cached(_ request: PictureRequest) -> Picture?
    /// - Throws: ``PictureError``, or `CancellationError`.
    func picture(_ request: PictureRequest) async throws -> LoadedPicture
}
