#if canImport(ImageIO)
    import CoreGraphics
    import Foundation
    import ImageIO

    /// Apple's own decoders, which return thumbnails that are decoded at a small scale and upright.
    /// ``DrawPlan`` decides the request and the place of the answer.
    enum ImageIODecoder {
        static func decode(
            _ bytes: UnsafeRawBufferPointer, _ decodePlan: DecodePlan
        ) throws(PictureError) -> Picture {
            let plan = DrawPlan(decodePlan)
            // The data must live as long as the source, which is this call.
            guard let start = bytes.baseAddress,
                let data = CFDataCreateWithBytesNoCopy(
                    nil, start.assumingMemoryBound(to: UInt8.self), bytes.count, kCFAllocatorNull),
                let source = CGImageSourceCreateWithData(data, nil)
            else { throw .damaged }
            let options: [CFString: Any] = [
                kCGImageSourceCreateThumbnailFromImageAlways: true,
                kCGImageSourceCreateThumbnailWithTransform: true,
                kCGImageSourceThumbnailMaxPixelSize: plan.longestSide,
            ]
            guard CGImageSourceGetStatusAtIndex(source, 0) == .statusComplete,
                let small = CGImageSourceCreateThumbnailAtIndex(source, 0, options as CFDictionary)
            else { throw .damaged }
            return try draw(small, plan)
        }

        private static func draw(
            _ image: CGImage, _ plan: DrawPlan
        ) throws(PictureError) -> Picture {
            let size = plan.output
            let place = plan.place(of: PictureSize(width: image.width, height: image.height))
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
                        x: place.x, y: place.y, width: place.width, height: place.height))
                return true
            }
            if !isDrawn { throw .unsupported("this picture's colours") }
            return Picture(size: size, pixels: pixels)
        }
    }
#endif
