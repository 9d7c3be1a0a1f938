/// Reads the first chunk of a PNG and the chunk with EXIF. Source: W3C, Portable Network Graphics,
/// 11.2.2 and 11.3.4.5.
enum PNGHeader {
    private static let firstChunk = 8
    /// The maximum number of chunks that are read. Writers split the pixels of a large picture into
    /// several thousand chunks.
    private static let maximumChunks = 50_000
    /// The maximum size of EXIF that is read, because some writers store a preview in it.
    private static let maximumEXIFBytes = 1 << 20

    static func read(_ bytes: HeaderReader) throws(PictureHeader.Problem) -> PictureHeader {
        guard try bytes.big(8, 4) == 13, try bytes.has("IHDR", at: 12) else { throw .damaged }
        let (width, height) = (try bytes.big(16, 4), try bytes.big(20, 4))
        let (depth, colour) = (try bytes.byte(24), try bytes.byte(25))
        let (compression, filter) = (try bytes.byte(26), try bytes.byte(27))
        guard let depths = depths[colour], depths.contains(depth) else { throw .damaged }
        guard compression == 0, filter == 0, try bytes.byte(28) <= 1 else { throw .damaged }
        // This checks the sizes before they are multiplied.
        let header = try PictureHeader(.png, width: width, height: height, wholeBytes: 0)
        return try PictureHeader(
            .png, width: width, height: height, orientation: orientation(bytes) ?? .up,
            wholeBytes: 4 * header.stored.pixels)
    }

    /// Returns the orientation of the first `eXIf` chunk within the available bytes. The chunk can
    /// follow the pixels. A damaged chunk is ignored, and the picture is not turned.
    private static func orientation(_ bytes: HeaderReader) -> PictureOrientation? {
        var offset = firstChunk
        for _ in 0..<maximumChunks {
            guard let length = try? bytes.big(offset, 4) else { return nil }
            if (try? bytes.has("eXIf", at: offset + 4)) == true {
                guard length <= maximumEXIFBytes,
                    let sum = try? bytes.big(offset + 8 + length, 4),
                    sum == CyclicSum.crc32(bytes, start: offset + 4, count: 4 + length)
                else { return nil }
                return EXIF.orientation(bytes, inTIFF: offset + 8, length)
            }
            // Each chunk has a length, a name and a checksum around its contents.
            offset += 12 + length
        }
        return nil
    }

    /// The allowed bit depths of each colour type.
    private static let depths: [Int: Set<Int>] = [
        0: [1, 2, 4, 8, 16], 2: [8, 16], 3: [1, 2, 4, 8], 4: [8, 16], 6: [8, 16],
    ]
}

/// The checksum at the end of each chunk. Source: W3C, Portable Network Graphics, annex D.
private enum CyclicSum {
    /// Returns nil if the bytes end before the chunk.
    static func crc32(_ bytes: HeaderReader, start: Int, count: Int) -> Int? {
        var sum: UInt32 = .max
        for offset in start..<(start + count) {
            guard let byte = try? bytes.byte(offset) else { return nil }
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum >> 1 ^ (sum & 1 == 0 ? 0 : 0xEDB8_8320) }
        }
        return Int(~sum)
    }
}
