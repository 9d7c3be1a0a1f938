import Testing

@testable import TidemarkImages

struct DecodingTests {
    private func decode(
        _ file: [UInt8], _ box: PictureSize, _ mode: PictureFit = .fit,
        limits: PictureLimits = PictureLimits()
    ) throws(PictureError) -> Picture {
        let result = file.withUnsafeBytes { bytes in
            Result { () throws(PictureError) in
                try PictureDecoding.picture(bytes, into: box, mode, limits: limits)
            }
        }
        return try result.get()
    }

    /// Returns the colour of the field that contains a pixel.
    private func field(_ picture: Picture, _ x: Int, _ y: Int) -> String {
        let pixel = picture[x, y]
        #expect(pixel.w == 255)
        switch (pixel.x > 128, pixel.y > 128, pixel.z > 128) {
        case (true, false, false): return "red"
        case (false, true, false): return "green"
        case (false, false, true): return "blue"
        case (true, true, true): return "white"
        default: return "\(pixel)"
        }
    }

    /// Returns the colours of the corners, from the top left to the bottom right.
    private func corners(_ picture: Picture) -> [String] {
        let (right, bottom) = (picture.width - 1, picture.height - 1)
        return [(0, 0), (right, 0), (0, bottom), (right, bottom)].map { field(picture, $0.0, $0.1) }
    }

    @Test func `every format is decoded small`() throws {
        for file in [Samples.jpeg, Samples.png, Samples.webP, Samples.losslessWebP] {
            let picture = try decode(file, PictureSize(width: 24, height: 24))
            #expect(picture.size == PictureSize(width: 24, height: 16))
            #expect(corners(picture) == ["red", "green", "blue", "white"])
        }
    }

    @Test func `filling cuts off on both sides`() throws {
        for file in [Samples.jpeg, Samples.png, Samples.webP, Samples.losslessWebP] {
            let picture = try decode(file, PictureSize(width: 20, height: 20), .fill)
            #expect(picture.size == PictureSize(width: 20, height: 20))
            #expect(corners(picture) == ["red", "green", "blue", "white"])
            #expect(field(picture, 8, 8) == "red" && field(picture, 11, 11) == "white")
        }
    }

    @Test func `nothing is made larger`() throws {
        for file in [Samples.jpeg, Samples.png, Samples.webP] {
            let whole = try decode(file, PictureSize(width: 500, height: 500))
            #expect(whole.size == Samples.size)
            let cut = try decode(file, PictureSize(width: 500, height: 32), .fill)
            #expect(cut.size == PictureSize(width: 96, height: 32))
        }
    }

    @Test(
        arguments: zip(
            PictureOrientation.allCases,
            [
                ["red", "green", "blue", "white"], ["green", "red", "white", "blue"],
                ["white", "blue", "green", "red"], ["blue", "white", "red", "green"],
                ["red", "blue", "green", "white"], ["blue", "red", "white", "green"],
                ["white", "green", "blue", "red"], ["green", "white", "red", "blue"],
            ]))
    func `a picture stands upright`(orientation: PictureOrientation, wanted: [String]) throws {
        let file = try #require(
            PictureEncoder.jpeg(
                PictureGenerator.fields(Samples.size), Samples.size, orientation: orientation))
        let picture = try decode(file, PictureSize(width: 48, height: 48))
        let isTurned = orientation.rawValue > 4
        #expect(picture.size == PictureSize(width: isTurned ? 32 : 48, height: isTurned ? 48 : 32))
        #expect(corners(picture) == wanted)
        #expect(corners(try decode(file, PictureSize(width: 30, height: 20), .fill)) == wanted)
    }

    @Test func `a JPEG's colours may be kept in any way`() throws {
        let pixels = PictureGenerator.fields(Samples.size)
        for colours in JPEGColours.allCases {
            for isProgressive in [false, true] {
                let file = try #require(
                    PictureEncoder.jpeg(
                        pixels, Samples.size, isProgressive: isProgressive, colours: colours))
                let picture = try decode(file, PictureSize(width: 24, height: 24))
                if colours == .grey {
                    // The values are the luma of red, green and blue in ITU-R BT.601.
                    for (x, y, grey) in [(0, 0, 76), (23, 0, 150), (0, 15, 29), (23, 15, 255)] {
                        let pixel = picture[x, y]
                        #expect(pixel.x == pixel.y && pixel.y == pixel.z && pixel.w == 255)
                        #expect(abs(Int(pixel.x) - grey) <= 2)
                    }
                } else {
                    #expect(corners(picture) == ["red", "green", "blue", "white"], "\(colours)")
                }
            }
        }
    }

    @Test func `a WebP with EXIF stands upright`() throws {
        func little(_ number: Int, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        }
        let exif =
            Array("II*\0".utf8) + [8, 0, 0, 0, 1, 0]
            + [0x12, 0x01, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0] + [0, 0, 0, 0]
        var body = Array("WEBPVP8X".utf8) + little(10, 4) + [0x08, 0, 0, 0]
        body += little(Samples.size.width - 1, 3) + little(Samples.size.height - 1, 3)
        body += Samples.webP[12...] + Array("EXIF".utf8) + little(exif.count, 4) + exif
        let file = Array("RIFF".utf8) + little(body.count, 4) + body
        let header = try PictureHeader(file)
        #expect(header.orientation == .right && header.wholeBytes == 0)
        let picture = try decode(file, PictureSize(width: 48, height: 48))
        #expect(picture.size == PictureSize(width: 32, height: 48))
        #expect(corners(picture) == ["blue", "red", "white", "green"])
    }

    @Test func `a JPEG is decoded at the smallest eighth that is enough`() throws {
        var generator = PictureGenerator(seed: 3)
        let size = PictureSize(width: 800, height: 600)
        let file = try #require(PictureEncoder.jpeg(generator.photograph(size), size))
        let header = try PictureHeader(file)
        func plan(_ side: Int, _ mode: PictureFit) -> DecodePlan {
            DecodePlan(header, into: PictureSize(width: side, height: side), mode)
        }
        #expect(plan(56, .fill).decoded == PictureSize(width: 100, height: 75))
        #expect(plan(100, .fit).decoded == PictureSize(width: 100, height: 75))
        #expect(plan(101, .fit).decoded == PictureSize(width: 200, height: 150))
        #expect(plan(76, .fill).decoded == PictureSize(width: 200, height: 150))
        #expect(plan(800, .fit).decoded == size)
        for side in [1, 56, 99, 100, 101, 333, 600] {
            let picture = try decode(file, PictureSize(width: side, height: side), .fill)
            #expect(picture.size == PictureSize(width: side, height: side))
        }
    }

    @Test func `small is near what large is`() throws {
        var generator = PictureGenerator(seed: 5)
        let size = PictureSize(width: 640, height: 480)
        let pixels = generator.photograph(size)
        let box = PictureSize(width: 40, height: 30)
        let exact = try decode(try #require(PictureEncoder.png(pixels, size)), box)
        let files = try [
            #require(PictureEncoder.jpeg(pixels, size, quality: 95)),
            #require(PictureEncoder.jpeg(pixels, size, quality: 95, isProgressive: true)),
            #require(PictureEncoder.webP(pixels, size, quality: 95)),
        ]
        for file in files {
            let picture = try decode(file, box)
            var difference = 0
            for (a, b) in zip(exact.pixels, picture.pixels) { difference += abs(Int(a) - Int(b)) }
            let mean = Double(difference) / Double(exact.pixels.count)
            #expect(mean < 6, "a mean difference of \(mean)")
        }
    }

    @Test func `what cannot be seen colours nothing`() throws {
        let size = PictureSize(width: 16, height: 16)
        var pixels: [UInt8] = []
        for index in 0..<size.pixels {
            // The red pixels are opaque, and the green pixels are transparent.
            pixels += index % 2 == 0 ? [255, 0, 0, 255] : [0, 255, 0, 0]
        }
        for file in try [
            #require(PictureEncoder.png(pixels, size))
        ] {
            let picture = try decode(file, PictureSize(width: 4, height: 4))
            for y in 0..<4 {
                for x in 0..<4 {
                    let pixel = picture[x, y]
                    #expect(pixel.y == 0, "premultiplied, and without green: \(pixel)")
                    #expect(abs(Int(pixel.x) - 128) <= 1 && abs(Int(pixel.w) - 128) <= 1)
                }
            }
        }
    }

    @Test func `a bomb is refused before anything is decoded`() {
        // The header claims 30,000 × 30,000 pixels in 33 bytes, and the file contains no pixel.
        let head: [UInt8] =
            [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13]
            + Array("IHDR".utf8) + [0, 0, 0x75, 0x30, 0, 0, 0x75, 0x30, 8, 6, 0, 0, 0, 1, 2, 3, 4]
        let size = PictureSize(width: 30_000, height: 30_000)
        #expect(throws: PictureError.tooManyPixels(size)) { try decode(head, Samples.box) }
    }

    @Test func `a limit on memory holds for what decoding takes`() throws {
        let limits = PictureLimits(maximumDecodeBytes: 20_000)
        // A PNG of 96 × 64 takes 24,576 bytes. A JPEG can be decoded at an eighth of its size.
        #expect(throws: PictureError.tooMuchMemory(Samples.size)) {
            try decode(Samples.png, Samples.box, limits: limits)
        }
        _ = try decode(Samples.jpeg, PictureSize(width: 8, height: 8), limits: limits)
    }
}
