public import Foundation
public import TidemarkImages

/// The pictures of a list, decoded at the size of their place and not larger.
public struct Thumbnails: Sendable {
    /// In points.
    public static let side = 56

    private let pipeline: ImagePipeline
    private let size: PictureSize

    /// - Parameters:
    ///   - folder: Where they are kept, of this app alone.
    ///   - scale: Pixels a point.
    /// - Throws: The file system's error.
    public init(folder: URL, scale: Int = 2) throws {
        self.init(try ImagePipeline(folder: folder), scale: scale)
    }

    public init(_ pipeline: ImagePipeline, scale: Int = 2) {
        self.pipeline = pipeline
        size = PictureSize(width: Self.side * scale, height: Self.side * scale)
    }

    /// The picture of a row; nil for none, or while it cannot be had.
    public func picture(of conversation: Conversation) async -> Picture? {
        guard let text = conversation.picture, let url = URL(string: text) else { return nil }
        return try? await pipeline.picture(PictureRequest(url, size: size)).picture
    }
}
