package import ExampleKit
import TidemarkImages

extension Photo {
    /// The photo as a JPEG file; nil without an encoder.
    package var jpeg: [UInt8]? {
        guard pixels.count == 3 * width * height else { return nil }
        var colours: [UInt8] = []
        colours.reserveCapacity(4 * width * height)
        for (index, byte) in pixels.enumerated() {
            colours.append(byte)
            if index % 3 == 2 { colours.append(255) }
        }
        return PictureEncoder.jpeg(colours, PictureSize(width: width, height: height))
    }
}
