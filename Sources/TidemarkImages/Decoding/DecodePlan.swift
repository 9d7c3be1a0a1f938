/// The plan of a decode for a box: the smallest scale that the format allows, and its memory. Pure.
struct DecodePlan: Hashable, Sendable {
    let header: PictureHeader
    /// The fit in stored pixels, before the picture is turned.
    let fit: Fit
    /// The size of the decoder's output, in the stored orientation.
    let decoded: PictureSize

    /// The number of equal steps in which JPEG can be scaled.
    static let eighths = 8

    /// - Precondition: No side of the box is zero.
    init(
        _ header: PictureHeader, into box: PictureSize, _ mode: PictureFit
    ) {
        let stored = header.stored
        let box = header.orientation.isTransposed ? box.transposed : box
        let fit = Fit(stored, into: box, mode)
        switch header.format {
        case .jpeg:
            // The smallest scale that has at least one pixel for each pixel of the result.
            let eighths = max(1, min(Self.eighths, Int((8 * fit.scale - 1e-9).rounded(.up))))
            decoded = Self.scaled(stored, eighths: eighths)
        case .png: decoded = stored
        case .webP:
            // The scaled size is exactly the result's size plus the parts that will be cut off.
            decoded = PictureSize(
                width: Self.side(stored.width, scale: fit.scale, output: fit.output.width),
                height: Self.side(stored.height, scale: fit.scale, output: fit.output.height))
        }
        self.header = header
        self.fit = fit
    }

    private static func side(_ side: Int, scale: Double, output: Int) -> Int {
        min(side, max(output, Int((Double(side) * scale).rounded())))
    }

    /// Returns the scaled size, rounded like libjpeg.
    private static func scaled(_ size: PictureSize, eighths: Int) -> PictureSize {
        PictureSize(
            width: (size.width * eighths + 7) / 8, height: (size.height * eighths + 7) / 8)
    }

    /// The peak memory of the decode, in bytes.
    var bytes: Int {
        let pixels = header.format == .png ? 0 : 4 * decoded.pixels
        return header.wholeBytes + pixels + 8 * fit.output.pixels
    }

    func check(_ limits: PictureLimits) throws(PictureError) {
        try limits.check(header)
        if bytes > limits.maximumDecodeBytes { throw .tooMuchMemory(header.size) }
    }

    /// Returns the decoder's output, cut and scaled for the box and upright.
    func finish(
        _ pixels: UnsafePointer<UInt8>, isPremultiplied: Bool
    ) -> Picture {
        if isPremultiplied, decoded == fit.output {
            // The whole picture is needed, pixel by pixel.
            let bytes = UnsafeBufferPointer(start: pixels, count: 4 * decoded.pixels)
            return Picture(size: decoded, pixels: Array(bytes)).upright(header.orientation)
        }
        let sampler = AreaSampler(decoded: decoded, stored: header.stored, fit)
        let small = sampler.sample(
            pixels, stride: 4 * decoded.width, isPremultiplied: isPremultiplied)
        return Picture(size: fit.output, pixels: small).upright(header.orientation)
    }
}
