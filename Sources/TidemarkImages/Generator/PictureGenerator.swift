/// Generates pictures without a motif, which depend only on the seed: for tests and demos.
package struct PictureGenerator: Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

    /// SplitMix64.
    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Returns pixels that compress like a photograph: bands of slopes with some noise, of which a
    /// JPEG of quality 85 keeps about two bits per pixel. Four bytes per pixel, opaque.
    ///
    /// Bands are copied, so twelve million pixels are made quickly in a debug build too.
    package mutating func photograph(_ size: PictureSize) -> [UInt8] {
        let bands = (0..<48).map { _ in band(size.width) }
        var pixels: [UInt8] = []
        pixels.reserveCapacity(4 * size.pixels)
        for y in 0..<size.height {
            // Neighbours share a band for eight lines.
            pixels += bands[Int(next() % 3) + y / 8 % (bands.count - 3)]
        }
        return pixels
    }

    private mutating func band(_ width: Int) -> [UInt8] {
        var line = [UInt8](repeating: 255, count: 4 * width)
        let (base, slope) = (Int(next() % 160), Int(next() % 9) - 4)
        for x in 0..<width {
            let random = next()
            for channel in 0..<3 {
                let noise = Int(random >> UInt64(8 * channel) & 15)
                let value = base + slope * x / 64 + 24 * channel + noise
                line[4 * x + channel] = UInt8(abs(value % 511 - 255) & 255)
            }
        }
        return line
    }

    /// Returns four fields, so a test can find the orientation: red, green, blue and white, from
    /// the top left.
    package static func fields(_ size: PictureSize) -> [UInt8] {
        var pixels: [UInt8] = []
        pixels.reserveCapacity(4 * size.pixels)
        for y in 0..<size.height {
            for x in 0..<size.width {
                switch (2 * x < size.width, 2 * y < size.height) {
                case (true, true): pixels += [255, 0, 0, 255]
                case (false, true): pixels += [0, 255, 0, 255]
                case (true, false): pixels += [0, 0, 255, 255]
                case (false, false): pixels += [255, 255, 255, 255]
                }
            }
        }
        return pixels
    }
}
