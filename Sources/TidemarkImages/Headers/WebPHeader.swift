/// The first chunks of a WebP. Sources: RFC 9649 (container, lossless), RFC 6386, 9.1 (lossy).
enum WebPHeader {
    /// The flags of the extended format: alpha, EXIF, and more than one frame.
    private enum Flag { static let animation = 0x02, exif = 0x08, alpha = 0x10 }
    private static let firstChunk = 12
    /// The maximum number of chunks that are read; a still picture has a handful.
    private static let maximumChunks = 64

    static func read(_ bytes: HeaderReader) throws(PictureHeader.Problem) -> PictureHeader {
        let body = firstChunk + 8
        if try bytes.has("VP8 ", at: firstChunk) {
            let size = try lossySize(bytes, body)
            return try PictureHeader(.webP, width: size.0, height: size.1, wholeBytes: 0)
        }
        if try bytes.has("VP8L", at: firstChunk) {
            let size = try losslessSize(bytes, body)
            return try PictureHeader(
                .webP, width: size.0, height: size.1, wholeBytes: 4 * size.0 * size.1)
        }
        guard try bytes.has("VP8X", at: firstChunk) else { throw .damaged }
        return try extended(bytes, body)
    }

    private static func lossySize(
        _ bytes: HeaderReader, _ body: Int
    ) throws(PictureHeader.Problem) -> (Int, Int) {
        guard try bytes.byte(body) & 1 == 0, try bytes.big(body + 3, 3) == 0x9D012A else {
            throw .damaged
        }
        return (try bytes.little(body + 6, 2) & 0x3FFF, try bytes.little(body + 8, 2) & 0x3FFF)
    }

    private static func losslessSize(
        _ bytes: HeaderReader, _ body: Int
    ) throws(PictureHeader.Problem) -> (Int, Int) {
        guard try bytes.byte(body) == 0x2F else { throw .damaged }
        let bits = try bytes.little(body + 1, 4)
        return (bits & 0x3FFF + 1, bits >> 14 & 0x3FFF + 1)
    }

    private static func extended(
        _ bytes: HeaderReader, _ body: Int
    ) throws(PictureHeader.Problem) -> PictureHeader {
        let flags = try bytes.byte(body)
        if flags & Flag.animation != 0 { throw .unsupported("animated WebP") }
        let (width, height) = (try bytes.little(body + 4, 3) + 1, try bytes.little(body + 7, 3) + 1)
        let pixels = try PictureHeader(.webP, width: width, height: height, wholeBytes: 0)
            .stored.pixels
        let found = look(bytes, after: body + 10, hasEXIF: flags & Flag.exif != 0)
        // Until the picture is known to be lossy, this is the larger of the two values.
        let wholeBytes = found.isLossy ? (flags & Flag.alpha != 0 ? pixels : 0) : 4 * pixels
        return try PictureHeader(
            .webP, width: width, height: height, orientation: found.orientation ?? .up,
            wholeBytes: wholeBytes)
    }

    /// Reads the chunks as far as there are bytes: EXIF follows the pixels.
    private static func look(
        _ bytes: HeaderReader, after start: Int, hasEXIF: Bool
    ) -> (isLossy: Bool, orientation: PictureOrientation?) {
        var isLossy = false
        var offset = start
        for _ in 0..<maximumChunks {
            guard let length = try? bytes.little(offset + 4, 4) else { break }
            if (try? bytes.has("VP8 ", at: offset)) == true { isLossy = true }
            if hasEXIF, (try? bytes.has("EXIF", at: offset)) == true {
                let body = offset + 8
                // Some writers keep the prefix of JPEG's EXIF segment.
                let orientation =
                    EXIF.orientation(bytes, inSegment: body, length)
                    ?? EXIF.orientation(bytes, inTIFF: body, length)
                return (isLossy, orientation)
            }
            offset += 8 + length + length % 2
        }
        return (isLossy, nil)
    }
}
