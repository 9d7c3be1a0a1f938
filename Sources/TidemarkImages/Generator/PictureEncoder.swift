/// The storage of a JPEG's colours: at half the resolution in both directions, at full resolution,
/// grey only, or as inks.
package enum JPEGColours: Sendable, CaseIterable { case halved, full, grey, inks }

#if canImport(CTidemarkJPEG) && canImport(CTidemarkPNG) && canImport(CTidemarkWebP)
    import CTidemarkJPEG
    import CTidemarkPNG
    import CTidemarkWebP

    /// Encodes pixels as files, for tests and demos. Returns nil if an encoder fails.
    package enum PictureEncoder {
        /// - Parameter orientation: The orientation, which is written as EXIF unless it is `up`.
        package static func jpeg(
            _ pixels: [UInt8], _ size: PictureSize, quality: Int = 85, isProgressive: Bool = false,
            colours: JPEGColours = .halved, orientation: PictureOrientation = .up
        ) -> [UInt8]? {
            precondition(pixels.count == 4 * size.pixels)
            guard let handle = tjInitCompress() else { return nil }
            defer { tjDestroy(handle) }
            var buffer: UnsafeMutablePointer<UInt8>?
            defer { tjFree(buffer) }
            var count: UInt = 0
            let (pixels, format, sampling) =
                switch colours {
                case .halved: (pixels, TJPF_RGBA, TJSAMP_420)
                case .full: (pixels, TJPF_RGBA, TJSAMP_444)
                case .grey: (pixels, TJPF_RGBA, TJSAMP_GRAY)
                case .inks: (inverted(inksOf: pixels), TJPF_CMYK, TJSAMP_444)
                }
            let status = tjCompress2(
                handle, pixels, Int32(size.width), 0, Int32(size.height), Int32(format.rawValue),
                &buffer, &count, Int32(sampling.rawValue), Int32(quality),
                isProgressive ? TJFLAG_PROGRESSIVE : 0)
            guard status == 0, let buffer else { return nil }
            let file = Array(UnsafeBufferPointer(start: buffer, count: Int(count)))
            if orientation == .up { return file }
            return file[..<2] + exif(orientation) + file[2...]
        }

        /// Cyan, magenta, yellow and black, each inverted, as image editors write them.
        private static func inverted(inksOf pixels: [UInt8]) -> [UInt8] {
            var inks = pixels
            for start in stride(from: 0, to: pixels.count, by: 4) {
                let brightest = Int(pixels[start..<start + 3].max() ?? 0)
                for index in start..<start + 3 where brightest > 0 {
                    inks[index] = UInt8(Int(pixels[index]) * 255 / brightest)
                }
                inks[start + 3] = UInt8(brightest)
            }
            return inks
        }

        /// A segment with the orientation alone, the lowest byte first.
        private static func exif(_ orientation: PictureOrientation) -> [UInt8] {
            let tiff: [UInt8] =
                Array("II*\0".utf8) + [8, 0, 0, 0, 1, 0]
                + [0x12, 0x01, 3, 0, 1, 0, 0, 0, UInt8(orientation.rawValue), 0, 0, 0]
                + [0, 0, 0, 0]
            let body = Array("Exif\0\0".utf8) + tiff
            return [0xFF, 0xE1, 0, UInt8(body.count + 2)] + body
        }

        /// - Parameter pixels: The pixels, not premultiplied.
        package static func png(_ pixels: [UInt8], _ size: PictureSize) -> [UInt8]? {
            precondition(pixels.count == 4 * size.pixels)
            var image = png_image()
            image.version = UInt32(PNG_IMAGE_VERSION)
            image.width = UInt32(size.width)
            image.height = UInt32(size.height)
            image.format = PNG_FORMAT_FLAG_COLOR | PNG_FORMAT_FLAG_ALPHA
            defer { png_image_free(&image) }
            // The capacity has room for incompressible pixels, and for the chunks around them.
            var count = pixels.count + pixels.count / 100 + size.height + 4_096
            var file = [UInt8](repeating: 0, count: count)
            guard png_image_write_to_memory(&image, &file, &count, 0, pixels, 0, nil) != 0 else {
                return nil
            }
            return Array(file[..<count])
        }

        /// - Parameter quality: The quality of a lossy file; nil for lossless.
        package static func webP(
            _ pixels: [UInt8], _ size: PictureSize, quality: Float? = 80
        ) -> [UInt8]? {
            precondition(pixels.count == 4 * size.pixels)
            var buffer: UnsafeMutablePointer<UInt8>?
            defer { WebPFree(buffer) }
            let (width, height) = (Int32(size.width), Int32(size.height))
            let count =
                if let quality {
                    WebPEncodeRGBA(pixels, width, height, 4 * width, quality, &buffer)
                } else {
                    WebPEncodeLosslessRGBA(pixels, width, height, 4 * width, &buffer)
                }
            guard count > 0, let buffer else { return nil }
            return Array(UnsafeBufferPointer(start: buffer, count: count))
        }
    }
#else
    /// Test pictures are made where the system's encoders are: not on Apple's systems yet.
    package enum PictureEncoder {
        package static func jpeg(
            _ pixels: [UInt8], _ size: PictureSize, quality: Int = 85, isProgressive: Bool = false,
            colours: JPEGColours = .halved, orientation: PictureOrientation = .up
        ) -> [UInt8]? { nil }

        package static func png(_ pixels: [UInt8], _ size: PictureSize) -> [UInt8]? { nil }

        package static func webP(
            _ pixels: [UInt8], _ size: PictureSize, quality: Float? = 80
        ) -> [UInt8]? { nil }
    }
#endif
