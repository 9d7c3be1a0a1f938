public import Foundation
public import TidemarkImages

/// A photograph on a screen, at the size at which it is shown.
public struct Photo: Codable, Equatable, Sendable {
    /// The size at which a screen shows a photograph, in pixels.
    public static let size = PictureSize(width: 96, height: 72)

    public var width: Int
    public var height: Int
    /// Red, green and blue of each pixel, row by row from the top. JSON has them in base64.
    public var pixels: Data

    public init(_ picture: TidemarkImages.Picture) {
        (width, height) = (picture.width, picture.height)
        var pixels = Data(capacity: 3 * width * height)
        for start in stride(from: 0, to: picture.pixels.count, by: 4) {
            pixels.append(contentsOf: picture.pixels[start..<(start + 3)])
        }
        self.pixels = pixels
    }
}
