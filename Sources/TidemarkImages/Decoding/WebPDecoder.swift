#if canImport(CTidemarkWebP)
    import CTidemarkWebP

    /// Decodes WebP with libwebp, and scales during the decode: a lossy picture never exists at its
    /// full size.
    enum WebPDecoder {
        static func decode(
            _ bytes: UnsafeRawBufferPointer, _ plan: DecodePlan
        ) throws(PictureError) -> Picture {
            var config = WebPDecoderConfig()
            guard WebPInitDecoderConfig(&config) != 0 else { throw .unsupported("WebP") }
            let file = bytes.assumingMemoryBound(to: UInt8.self).baseAddress
            guard WebPGetFeatures(file, bytes.count, &config.input) == VP8_STATUS_OK,
                // The limits were applied to the size that our own reader found.
                Int(config.input.width) == plan.header.stored.width,
                Int(config.input.height) == plan.header.stored.height
            else { throw .damaged }
            let pixels = PixelBuffer(plan.decoded)
            config.options.use_scaling = plan.decoded == plan.header.stored ? 0 : 1
            config.options.scaled_width = Int32(plan.decoded.width)
            config.options.scaled_height = Int32(plan.decoded.height)
            config.output.colorspace = MODE_rgbA
            config.output.is_external_memory = 1
            config.output.u.RGBA.rgba = pixels.start
            config.output.u.RGBA.stride = Int32(4 * plan.decoded.width)
            config.output.u.RGBA.size = pixels.count
            defer { WebPFreeDecBuffer(&config.output) }
            guard WebPDecode(file, bytes.count, &config) == VP8_STATUS_OK else { throw .damaged }
            return plan.finish(pixels.start, isPremultiplied: true)
        }
    }
#endif
