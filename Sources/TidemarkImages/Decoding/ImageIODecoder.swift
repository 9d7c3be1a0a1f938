#if canImport(ImageIO)
    import CoreGraphics
    import Foundation
    import ImageIO

    /// Apple's own decoders: their thumbnails are decoded small, and upright.
    ///
    /// Written from the documentation; these lines were never compiled where the rest was.
    enum ImageIODecoder {
        static func decode(
            _ bytes: UnsafeRawBufferPointer, _ plan: DecodePlan
        ) throws(PictureError) -> Picture {
            // For as long as the source lives, which is this call.
            guard let start = bytes.baseAddress,
                let data = CFDataCreateWithBytesNoCopy(
                    nil, start.assumingMemoryBound(to: UInt8.self), bytes.count, kCFAllocatorNull),
                let source = CGImageSourceCreateWithData(data, nil)
            else { throw .damaged }
            let stored = plan.header.stored
            let longest = Double(max(stored.width, stored.height)) * plan.fit.scale
            let options: [CFString: Any] = [
                kCGImageSourceCreateThumbnailFromImageAlways: true,
                kCGImageSourceCreateThumbnailWithTransform: true,
                kCGImageSourceThumbnailMaxPixelSize: Int(longest.rounded(.up)),
            ]
            guard CGImageSourceGetStatusAtIndex(source, 0) == .statusComplete,
                let small = CGImageSourceCreateThumbnailAtIndex(source, 0, options as CFDictionary)
            else { throw .damaged }
            return try draw(small, plan)
        }

        /// Around the middle of the output.
        private static func draw(
            _ image: CGImage, _ plan: DecodePlan
        ) throws(PictureError) -> Picture {
            let isTransposed = plan.header.orientation.isTransposed
            let size = isTransposed ? plan.fit.output.transposed : plan.fit.output
            var pixels = [UInt8](repeating: 0, count: 4 * size.pixels)
            let isDrawn = pixels.withUnsafeMutableBytes { memory in
                guard let space = CGColorSpace(name: CGColorSpace.sRGB),
                    let context = CGContext(
                        data: memory.baseAddress, width: size.width, height: size.height,
                        bitsPerComponent: 8, bytesPerRow: 4 * size.width, space: space,
                        bitmapInfo: CGImageAlphaInfo.premultipliedLast.rawValue)
                else { return false }
                context.interpolationQuality = .high
                context.draw(
                    image,
                    in: CGRect(
                        x: (size.width - image.width) / 2, y: (size.height - image.height) / 2,
                        width: image.width, height: image.height))
                return true
            }
            if !isDrawn { throw .unsupported("this picture's colours") }
            return Picture(size: size, pixels: pixels)
        }
    }
#endif
