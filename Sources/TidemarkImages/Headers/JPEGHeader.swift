/// The markers of a JPEG up to its first scan. Source: ITU-T T.81, annex B.
enum JPEGHeader {
    private struct Frame {
        let width, height: Int
        let isProgressive: Bool
        /// The number of samples of each component in a row and in a column, relative to the
        /// others.
        let sampling: [(across: Int, down: Int)]

        /// The size of all coefficients, two bytes for each coefficient of each component.
        var coefficientBytes: Int {
            let across = sampling.map(\.across).max() ?? 1
            let down = sampling.map(\.down).max() ?? 1
            return sampling.reduce(0) { sum, one in
                sum + 2 * width * height * one.across * one.down / (across * down)
            }
        }
    }

    static func read(_ bytes: HeaderReader) throws(PictureHeader.Problem) -> PictureHeader {
        var frame: Frame?
        var orientation: PictureOrientation?
        var offset = 2
        for _ in 0..<PictureHeader.maximumSegments {
            let marker = try nextMarker(bytes, &offset)
            // The markers TEM and RST have no length.
            if marker == 0x01 || (0xD0...0xD7).contains(marker) { continue }
            if marker == 0xD8 || marker == 0xD9 { throw .damaged }
            let length = try bytes.big(offset, 2)
            if length < 2 { throw .damaged }
            switch marker {
            case 0xC4, 0xC8, 0xCC: break
            case 0xC0...0xCF:
                if frame != nil { throw .damaged }
                frame = try readFrame(bytes, offset: offset, length: length, marker: marker)
            case 0xE1:
                if orientation == nil {
                    orientation = EXIF.orientation(bytes, inSegment: offset + 2, length - 2)
                }
            case 0xDA:
                guard let frame else { throw .damaged }
                let inScan = try bytes.byte(offset + 2)
                // A scan without all components is one of several, and the decoder holds all of
                // them until the last.
                let isWhole = frame.isProgressive || inScan < frame.sampling.count
                return try PictureHeader(
                    .jpeg, width: frame.width, height: frame.height,
                    orientation: orientation ?? .up,
                    wholeBytes: isWhole ? frame.coefficientBytes : 0)
            default: break
            }
            offset += length
        }
        throw .damaged
    }

    /// Decoders skip stray bytes between segments; this function does too, up to the end.
    private static func nextMarker(
        _ bytes: HeaderReader, _ offset: inout Int
    ) throws(PictureHeader.Problem) -> Int {
        while true {
            while try bytes.byte(offset) != 0xFF { offset += 1 }
            while try bytes.byte(offset) == 0xFF { offset += 1 }
            let marker = try bytes.byte(offset)
            offset += 1
            if marker != 0 { return marker }
        }
    }

    private static func readFrame(
        _ bytes: HeaderReader, offset: Int, length: Int, marker: Int
    ) throws(PictureHeader.Problem) -> Frame {
        guard [0xC0, 0xC1, 0xC2, 0xC9, 0xCA].contains(marker) else {
            throw .unsupported("JPEG of kind \(marker - 0xC0)")
        }
        let precision = try bytes.byte(offset + 2)
        if precision != 8 { throw .unsupported("JPEG of \(precision) bits") }
        let count = try bytes.byte(offset + 7)
        if ![1, 3, 4].contains(count) { throw .unsupported("JPEG of \(count) components") }
        if length != 8 + 3 * count { throw .damaged }
        var sampling: [(across: Int, down: Int)] = []
        for index in 0..<count {
            let both = try bytes.byte(offset + 9 + 3 * index)
            let (across, down) = (both >> 4, both & 15)
            guard (1...4).contains(across), (1...4).contains(down) else { throw .damaged }
            sampling.append((across, down))
        }
        return Frame(
            width: try bytes.big(offset + 5, 2), height: try bytes.big(offset + 3, 2),
            isProgressive: marker == 0xC2 || marker == 0xCA, sampling: sampling)
    }
}

/// Reads the orientation in EXIF, and nothing else. Source: CIPA DC-008, TIFF 6.0.
enum EXIF {
    private static let orientationTag = 0x0112
    /// A directory has a few dozen entries. The reader stops after this number.
    private static let maximumEntries = 512

    /// - Returns: Nil if the segment is not EXIF, has no orientation, or is damaged. The picture is
    ///   then not turned.
    static func orientation(
        _ bytes: HeaderReader, inSegment start: Int, _ length: Int
    ) -> PictureOrientation? {
        guard length >= 14, (try? bytes.has("Exif\0\0", at: start)) == true else { return nil }
        return orientation(bytes, inTIFF: start + 6, length - 6)
    }

    static func orientation(
        _ bytes: HeaderReader, inTIFF start: Int, _ length: Int
    ) -> PictureOrientation? {
        let isBig: Bool
        if (try? bytes.has("MM\0*", at: start)) == true {
            isBig = true
        } else if (try? bytes.has("II*\0", at: start)) == true {
            isBig = false
        } else {
            return nil
        }
        func number(_ offset: Int, _ size: Int) -> Int? {
            guard offset >= 0, offset + size <= length else { return nil }
            return isBig
                ? try? bytes.big(start + offset, size) : try? bytes.little(start + offset, size)
        }
        guard let directory = number(4, 4), let count = number(directory, 2) else { return nil }
        for index in 0..<min(count, maximumEntries) {
            let entry = directory + 2 + 12 * index
            guard let tag = number(entry, 2) else { return nil }
            if tag != orientationTag { continue }
            // The value has type 3, a number of two bytes, which the entry itself contains.
            guard number(entry + 2, 2) == 3, let value = number(entry + 8, 2) else { return nil }
            return PictureOrientation(rawValue: value)
        }
        return nil
    }
}
