public import Foundation
public import TidemarkImages

/// The pictures of a list, decoded at the size at which they are shown: by ``source`` for a view,
/// and by ``picture(of:)`` without one, as in a notification.
public struct Thumbnails: Sendable {
    /// The width and height in points.
    public static let side = 56

    /// The source of `TidemarkImage`, for `\.pictures`.
    public var source: any PictureSource { pipeline }
    private let pipeline: ImagePipeline
    private let size: PictureSize

    /// - Parameters:
    ///   - folder: The folder of the pictures, used by this app alone.
    ///   - scale: The number of pixels per point.
    /// - Throws: The file system's error.
    public init(folder: URL, scale: Int = 2) throws {
        self.init(try ImagePipeline(folder: folder), scale: scale)
    }

    public init(_ pipeline: ImagePipeline, scale: Int = 2) {
        self.pipeline = pipeline
        size = PictureSize(width: Self.side * scale, height: Self.side * scale)
    }

    /// Returns the picture of a row; nil if it has none, or if the picture cannot be loaded.
    public func picture(of conversation: Conversation) async -> Picture? {
        guard let text = conversation.picture, let url = URL(string: text) else { return nil }
        return try? await pipeline.picture(PictureRequest(url, size: size)).picture
    }
}
