#if canImport(CTidemarkPNG)
    import CTidemarkPNG

    /// PNG by libpng's simplified interface, which never jumps out of Swift's frames. It has no smaller
    /// scale: all pixels are held at once, and ``DecodePlan/bytes`` says so.
    enum PNGDecoder {
        static func decode(
            _ bytes: UnsafeRawBufferPointer, _ plan: DecodePlan
        ) throws(PictureError) -> Picture {
            var image = png_image()
            image.version = UInt32(PNG_IMAGE_VERSION)
            defer { png_image_free(&image) }
            guard png_image_begin_read_from_memory(&image, bytes.baseAddress, bytes.count) != 0,
                // The limits were applied to what our own reader found.
                Int(image.width) == plan.decoded.width, Int(image.height) == plan.decoded.height
            else { throw .damaged }
            // Red, green, blue, alpha, 8 bits each.
            image.format = PNG_FORMAT_FLAG_COLOR | PNG_FORMAT_FLAG_ALPHA
            // libpng takes 16 bits without a `gAMA` or an `sRGB` chunk for linear light, and makes
            // them far too bright. They are sRGB, as 8 bits are. The beginning cleared the flags.
            image.flags |= UInt32(PNG_IMAGE_FLAG_16BIT_sRGB)
            let pixels = PixelBuffer(plan.decoded)
            guard png_image_finish_read(&image, nil, pixels.start, 0, nil) != 0 else {
                throw .damaged
            }
            return plan.finish(pixels.start, isPremultiplied: false)
        }
    }
#endif
