#if canImport(CTidemarkJPEG)
    import CTidemarkJPEG

    /// Decodes JPEG with libjpeg-turbo, at eighths of its size. At one eighth, the decoder reads
    /// all coefficients and transforms one of each 64.
    enum JPEGDecoder {
        static func decode(
            _ bytes: UnsafeRawBufferPointer, _ plan: DecodePlan
        ) throws(PictureError) -> Picture {
            guard let handle = tjInitDecompress() else { throw .storageFailed }
            defer { tjDestroy(handle) }
            guard let file = bytes.assumingMemoryBound(to: UInt8.self).baseAddress else {
                throw .damaged
            }
            let size = plan.header.stored
            var (width, height, sampling, colours): (Int32, Int32, Int32, Int32) = (0, 0, 0, 0)
            let found = tjDecompressHeader3(
                handle, file, UInt(bytes.count), &width, &height, &sampling, &colours)
            // The limits were applied to the size that our own reader found.
            guard found == 0, Int(width) == size.width, Int(height) == size.height else {
                throw .damaged
            }
            let isCMYK = [TJCS_CMYK, TJCS_YCCK].contains { Int32($0.rawValue) == colours }
            let format = isCMYK ? TJPF_CMYK : TJPF_RGBA
            let pixels = PixelBuffer(plan.decoded)
            // A file with more scans than any encoder makes is an attack on time.
            let status = tjDecompress2(
                handle, file, UInt(bytes.count), pixels.start, Int32(plan.decoded.width),
                Int32(4 * plan.decoded.width), Int32(plan.decoded.height), Int32(format.rawValue),
                TJFLAG_LIMITSCANS)
            // libjpeg-turbo reports a warning even if it gave up after one. In that case the last
            // pixel still has its initial zeros.
            let isWhole = isCMYK ? status == 0 : pixels.start[pixels.count - 1] == 255
            if status != 0, !isWhole || isFatal(handle) { throw .damaged }
            if isCMYK { makeRGB(pixels.start, plan.decoded.pixels) }
            return plan.finish(pixels.start, isPremultiplied: true)
        }

        /// Cameras leave stray bytes between segments, and every program shows such pictures. A
        /// file that ends early is not shown, because its missing part would be cached as grey.
        private static func isFatal(_ handle: tjhandle) -> Bool {
            guard tjGetErrorCode(handle) == Int32(TJERR_WARNING.rawValue),
                let text = tjGetErrorStr2(handle)
            else { return true }
            return String(cString: text).lowercased().contains("premature end")
        }

        /// Converts inks to RGB. Programs that write such pictures write the inks inverted.
        private static func makeRGB(_ pixels: UnsafeMutablePointer<UInt8>, _ count: Int) {
            for pixel in 0..<count {
                let one = pixels + 4 * pixel
                let black = UInt16(one[3])
                for channel in 0..<3 {
                    one[channel] = UInt8(UInt16(one[channel]) * black / 255)
                }
                one[3] = 255
            }
        }
    }
#endif
