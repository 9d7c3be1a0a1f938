/// A width and a height in pixels, not in points.
public struct PictureSize: Hashable, Sendable, CustomStringConvertible {
    public let width: Int
    public let height: Int

    /// - Precondition: Neither is negative.
    public init(width: Int, height: Int) {
        precondition(width >= 0 && height >= 0, "a picture has no negative side")
        self.width = width
        self.height = height
    }

    /// Of a picture that was turned by a quarter.
    var transposed: PictureSize { PictureSize(width: height, height: width) }

    /// Sides are 65,535 at the most wherever a header was read, so that this cannot overflow.
    var pixels: Int { width * height }

    public var description: String { "\(width)×\(height)" }
}

/// How a stored picture must be turned to be upright: EXIF's eight values.
public enum PictureOrientation: Int, Sendable, CaseIterable {
    case up = 1
    case upMirrored, down, downMirrored, leftMirrored, right, rightMirrored, left

    /// Whether width and height are swapped.
    var isTransposed: Bool { rawValue >= 5 }

    /// Where a pixel of the upright picture is in the stored one.
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
