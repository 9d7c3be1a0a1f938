/// A width and a height in pixels, not in points.
public struct PictureSize: Hashable, Sendable, CustomStringConvertible {
    public let width: Int
    public let height: Int

    /// - Precondition: Both sides are at least 0.
    public init(width: Int, height: Int) {
        precondition(width >= 0 && height >= 0, "a picture has no negative side")
        self.width = width
        self.height = height
    }

    /// The size after a quarter turn.
    var transposed: PictureSize { PictureSize(width: height, height: width) }

    /// The number of pixels. It cannot overflow, because sides from a header are at most 65,535.
    var pixels: Int { width * height }

    public var description: String { "\(width)×\(height)" }
}

/// The turn that makes a stored picture upright: the eight values of EXIF.
public enum PictureOrientation: Int, Sendable, CaseIterable {
    case up = 1
    case upMirrored, down, downMirrored, leftMirrored, right, rightMirrored, left

    /// True if width and height are swapped.
    var isTransposed: Bool { rawValue >= 5 }

    /// Returns the position in the stored picture of a pixel of the upright picture.
    ///
    /// - Parameter stored: The size as stored.
    func source(x: Int, y: Int, in stored: PictureSize) -> (x: Int, y: Int) {
        let (right, bottom) = (stored.width - 1, stored.height - 1)
        return switch self {
        case .up: (x, y)
        case .upMirrored: (right - x, y)
        case .down: (right - x, bottom - y)
        case .downMirrored: (x, bottom - y)
        case .leftMirrored: (y, x)
        case .right: (y, bottom - x)
        case .rightMirrored: (right - y, bottom - x)
        case .left: (right - y, x)
        }
    }
}
