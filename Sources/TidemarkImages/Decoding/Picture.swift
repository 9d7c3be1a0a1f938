/// A decoded picture: upright, in sRGB, four bytes per pixel.
public struct Picture: Hashable, Sendable {
    public let size: PictureSize
    /// The pixels row by row from the top, as red, green, blue and alpha. Colours are premultiplied
    /// by alpha, as CoreGraphics and most screens require. There is no padding: `4 * width` bytes
    /// per row.
    public let pixels: [UInt8]

    public var width: Int { size.width }
    public var height: Int { size.height }
    /// The size in memory, in bytes.
    public var byteCount: Int { pixels.count }

    /// - Precondition: There are four bytes for each pixel, and at least one pixel.
    public init(size: PictureSize, pixels: [UInt8]) {
        precondition(size.pixels > 0 && pixels.count == 4 * size.pixels)
        self.size = size
        self.pixels = pixels
    }

    /// Returns red, green, blue and alpha of one pixel.
    ///
    /// - Precondition: The position is inside the picture.
    public subscript(x: Int, y: Int) -> SIMD4<UInt8> {
        precondition(x >= 0 && x < width && y >= 0 && y < height)
        let offset = 4 * (y * width + x)
        return SIMD4(pixels[offset], pixels[offset + 1], pixels[offset + 2], pixels[offset + 3])
    }
}

extension Picture: CustomStringConvertible, CustomReflectable {
    /// The description without the pixels.
    public var description: String { "Picture(\(size))" }
    public var customMirror: Mirror { Mirror(self, children: ["size": size]) }
}

/// The way in which a picture fits into a box of another shape.
public enum PictureFit: String, Hashable, Sendable, CaseIterable {
    /// The whole picture is visible; it can be smaller than the box in one direction.
    case fit
    /// The picture fills the box; the rest is cut off on both sides.
    case fill
}

/// The part of a picture that is shown in a box, and its size. A picture is never enlarged.
struct Fit: Hashable, Sendable {
    /// The shown rectangle, in the picture's own pixels.
    let left, top, width, height: Double
    let output: PictureSize
    /// The number of output pixels for one pixel of the picture, at most 1.
    let scale: Double

    /// - Precondition: No side is zero.
    init(_ source: PictureSize, into box: PictureSize, _ mode: PictureFit) {
        precondition(source.pixels > 0 && box.pixels > 0, "a picture and a box have some size")
        let (across, down) = (Double(source.width), Double(source.height))
        let (toWidth, toHeight) = (Double(box.width) / across, Double(box.height) / down)
        switch mode {
        case .fit:
            scale = min(toWidth, toHeight, 1)
            (left, top, width, height) = (0, 0, across, down)
        case .fill:
            scale = min(max(toWidth, toHeight), 1)
            width = min(across, Double(box.width) / scale)
            height = min(down, Double(box.height) / scale)
            left = (across - width) / 2
            top = (down - height) / 2
        }
        output = PictureSize(
            width: max(1, min(box.width, Int((width * scale).rounded()))),
            height: max(1, min(box.height, Int((height * scale).rounded()))))
    }
}
