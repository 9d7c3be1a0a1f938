/// Decodes the bytes of a file into a small picture.
package enum PictureDecoding {
    /// Decodes a file that is in memory already. No pipeline calls this.
    package static func picture(
        _ file: [UInt8], into box: PictureSize, _ mode: PictureFit
    ) throws(PictureError) -> Picture {
        let result = file.withUnsafeBytes { bytes in
            Result { () throws(PictureError) in
                try picture(bytes, into: box, mode, limits: PictureLimits())
            }
        }
        return try result.get()
    }

    /// Reads the header, applies the limits, and decodes at the smallest scale that is large
    /// enough.
    ///
    /// - Parameter box: The size of the box in pixels. A smaller picture keeps its size.
    static func picture(
        _ bytes: UnsafeRawBufferPointer, into box: PictureSize, _ mode: PictureFit,
        limits: PictureLimits
    ) throws(PictureError) -> Picture {
        let plan = try plan(bytes, into: box, mode, limits: limits)
        return try decode(bytes, plan)
    }

    /// Returns the plan of a decode and its memory. Decodes nothing.
    static func plan(
        _ bytes: UnsafeRawBufferPointer, into box: PictureSize, _ mode: PictureFit,
        limits: PictureLimits
    ) throws(PictureError) -> DecodePlan {
        let header: PictureHeader
        do throws(PictureHeader.Problem) { header = try PictureHeader(bytes) } catch {
            throw PictureError(error)
        }
        let plan = DecodePlan(header, into: box, mode)
        try plan.check(limits)
        return plan
    }

    static func decode(
        _ bytes: UnsafeRawBufferPointer, _ plan: DecodePlan
    ) throws(PictureError) -> Picture {
        #if canImport(ImageIO)
            return try ImageIODecoder.decode(bytes, plan)
        #else
            return switch plan.header.format {
            case .jpeg: try JPEGDecoder.decode(bytes, plan)
            case .png: try PNGDecoder.decode(bytes, plan)
            case .webP: try WebPDecoder.decode(bytes, plan)
            }
        #endif
    }
}

/// A buffer of pixels that is freed at the end in every case.
struct PixelBuffer: ~Copyable {
    let start: UnsafeMutablePointer<UInt8>
    let count: Int

    init(_ size: PictureSize) {
        count = 4 * size.pixels
        // The buffer is zeroed: pixels that a decoder omits must not show earlier contents of the
        // memory.
        start = .allocate(capacity: count)
        start.initialize(repeating: 0, count: count)
    }

    deinit { start.deallocate() }
}
