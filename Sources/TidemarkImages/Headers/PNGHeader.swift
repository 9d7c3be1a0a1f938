/// The first chunk of a PNG. Source: W3C, Portable Network Graphics, 11.2.2.
enum PNGHeader {
    static func read(_ bytes: HeaderReader) throws(PictureHeader.Problem) -> PictureHeader {
        guard try bytes.big(8, 4) == 13, try bytes.has("IHDR", at: 12) else { throw .damaged }
        let (width, height) = (try bytes.big(16, 4), try bytes.big(20, 4))
        let (depth, colour) = (try bytes.byte(24), try bytes.byte(25))
        let (compression, filter) = (try bytes.byte(26), try bytes.byte(27))
        guard let depths = depths[colour], depths.contains(depth) else { throw .damaged }
        guard compression == 0, filter == 0, try bytes.byte(28) <= 1 else { throw .damaged }
        // The sizes are looked at before they are multiplied.
        let header = try PictureHeader(.png, width: width, height: height, wholeBytes: 0)
        return try PictureHeader(
            .png, width: width, height: height, wholeBytes: 4 * header.stored.pixels)
    }

    /// Which bit depths go with a colour type.
    private static let depths: [Int: Set<Int>] = [
        0: [1, 2, 4, 8, 16], 2: [8, 16], 3: [1, 2, 4, 8], 4: [8, 16], 6: [8, 16],
    ]
}
