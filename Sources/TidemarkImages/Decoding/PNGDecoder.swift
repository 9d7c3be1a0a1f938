#if canImport(CTidemarkPNG)
    import CTidemarkPNG

    /// Decodes PNG with libpng's simplified interface, which never jumps out of Swift's frames. PNG
    /// has no smaller scale, so memory holds all pixels. ``DecodePlan/bytes`` includes them.
    enum PNGDecoder {
        static func decode(
            _ bytes: UnsafeRawBufferPointer, _ plan: DecodePlan
        ) throws(PictureError) -> Picture {
            var image = png_image()
            image.version = UInt32(PNG_IMAGE_VERSION)
            defer { png_image_free(&image) }
            guard png_image_begin_read_from_memory(&image, bytes.baseAddress, bytes.count) != 0,
                // The limits were applied to the size that our own reader found.
                Int(image.width) == plan.decoded.width, Int(image.height) == plan.decoded.height
            else { throw .damaged }
            // The format is red, green, blue and alpha, 8 bits each.
            image.format = PNG_FORMAT_FLAG_COLOR | PNG_FORMAT_FLAG_ALPHA
            // Without a `gAMA` or an `sRGB` chunk, libpng interprets 16 bits as linear light and
            // makes them far too bright. They are sRGB, like 8 bits. The call above has cleared the
            // flags.
            image.flags |= UInt32(PNG_IMAGE_FLAG_16BIT_sRGB)
            let pixels = PixelBuffer(plan.decoded)
            guard png_image_finish_read(&image, nil, pixels.start, 0, nil) != 0 else {
                throw .damaged
            }
            return plan.finish(pixels.start, isPremultiplied: false)
        }
    }
#endif
