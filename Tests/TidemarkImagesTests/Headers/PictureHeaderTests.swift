import Testing

@testable import TidemarkImages

struct PictureHeaderTests {
    private func png(
        width: UInt32, height: UInt32, depth: UInt8 = 8, colour: UInt8 = 6, interlace: UInt8 = 0
    ) -> [UInt8] {
        func big(_ number: UInt32) -> [UInt8] {
            [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
        }
        return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + big(13) + Array("IHDR".utf8)
            + big(width) + big(height) + [depth, colour, 0, 0, interlace]
    }

    private func problem(_ bytes: [UInt8]) -> PictureHeader.Problem? {
        do throws(PictureHeader.Problem) { _ = try PictureHeader(bytes) } catch { return error }
        return nil
    }

    @Test func `says the size of every format`() throws {
        for (file, format) in [
            (Samples.jpeg, PictureFormat.jpeg), (Samples.png, .png), (Samples.webP, .webP),
            (Samples.losslessWebP, .webP),
        ] {
            let header = try PictureHeader(file)
            #expect(header.format == format)
            #expect(header.size == Samples.size)
            #expect(header.orientation == .up)
        }
    }

    @Test func `asks for more as long as a file may still be one`() throws {
        for file in [Samples.jpeg, Samples.png, Samples.webP, Samples.losslessWebP] {
            var length = 0
            while problem(Array(file[..<length])) == .needsMoreBytes { length += 1 }
            #expect(length > 12 && length < 1_000)
            #expect(try PictureHeader(Array(file[..<length])) == PictureHeader(file))
        }
    }

    @Test func `reads the orientation, and turns the size`() throws {
        for orientation in PictureOrientation.allCases {
            let file = try #require(
                PictureEncoder.jpeg(
                    PictureGenerator.fields(Samples.size), Samples.size, orientation: orientation))
            let header = try PictureHeader(file)
            #expect(header.orientation == orientation)
            #expect(header.stored == Samples.size)
            let turned = PictureSize(width: 64, height: 96)
            #expect(header.size == (orientation.rawValue > 4 ? turned : Samples.size))
        }
    }

    @Test func `reads EXIF with the highest byte first, and beyond other entries`() {
        let tiff: [UInt8] =
            Array("MM\0*".utf8) + [0, 0, 0, 8, 0, 2]
            + [0x01, 0x0F, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0]
            + [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0]
        let orientation = tiff.withUnsafeBytes {
            EXIF.orientation(HeaderReader($0), inTIFF: 0, tiff.count)
        }
        #expect(orientation == .right)
    }

    @Test func `EXIF that is damaged turns nothing`() {
        let start = Array("Exif\0\0II*\0".utf8)
        // The bodies have a directory beyond the end, too many entries, an orientation of 9, and an
        // orientation of 0.
        let bodies: [[UInt8]] = [
            [0xFF, 0xFF, 0xFF, 0xFF], [8, 0, 0, 0, 255, 255],
            [8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, 9, 0, 0, 0],
            [8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, 0, 0, 0, 0],
        ]
        for body in bodies {
            let segment = start + body
            let orientation = segment.withUnsafeBytes {
                EXIF.orientation(HeaderReader($0), inSegment: 0, segment.count)
            }
            #expect(orientation == nil)
        }
    }

    @Test func `says what a decoder must hold`() throws {
        let pixels = PictureGenerator.fields(Samples.size)
        let count = Samples.size.pixels
        #expect(try PictureHeader(Samples.jpeg).wholeBytes == 0)
        let progressive = try #require(
            PictureEncoder.jpeg(pixels, Samples.size, isProgressive: true))
        #expect(try PictureHeader(progressive).wholeBytes == 3 * count, "4:2:0, two bytes each")
        let full = try #require(
            PictureEncoder.jpeg(pixels, Samples.size, isProgressive: true, colours: .full))
        #expect(try PictureHeader(full).wholeBytes == 6 * count)
        #expect(try PictureHeader(Samples.png).wholeBytes == 4 * count)
        #expect(try PictureHeader(Samples.webP).wholeBytes == 0)
        #expect(try PictureHeader(Samples.losslessWebP).wholeBytes == 4 * count)
    }

    @Test func `refuses what is no picture, and what contradicts itself`() {
        #expect(problem(Array("<html><body>".utf8)) == .notAPicture)
        #expect(problem([]) == .needsMoreBytes)
        #expect(problem(Array("<".utf8)) == .notAPicture)
        #expect(problem(png(width: 0, height: 1)) == .damaged)
        #expect(problem(png(width: 1, height: 1, depth: 3)) == .damaged)
        #expect(problem(png(width: 1, height: 1, colour: 5)) == .damaged)
        #expect(problem(png(width: 1, height: 1, depth: 16, colour: 3)) == .damaged)
        #expect(problem([0xFF, 0xD8, 0xFF, 0xD9]) == .damaged, "an end without a picture")
        #expect(problem([0xFF, 0xD8, 0xFF, 0xDA, 0, 8, 3, 1, 0]) == .damaged, "pixels of no frame")
        #expect(
            problem([0xFF, 0xD8, 0xFF, 0xE0, 0, 1]) == .damaged, "a segment shorter than its length"
        )
    }

    @Test func `refuses sides that no decoder takes`() {
        for (width, height) in [(65_536, 1), (1, 65_536), (UInt32.max, .max)] as [(UInt32, UInt32)]
        {
            guard case .unsupported = problem(png(width: width, height: height)) else {
                Issue.record("took \(width)×\(height)")
                continue
            }
        }
        #expect(problem(png(width: 65_535, height: 65_535)) == nil)
    }

    @Test func `refuses animations and lossless JPEG as what they are`() {
        var webP = Array("RIFF\u{64}\0\0\0WEBPVP8X".utf8) + [10, 0, 0, 0]
        webP += [0x02, 0, 0, 0, 9, 0, 0, 9, 0, 0]
        #expect(problem(webP) == .unsupported("animated WebP"))
        let jpeg: [UInt8] = [0xFF, 0xD8, 0xFF, 0xC3, 0, 11, 8, 0, 1, 0, 1, 1, 1, 0x11, 0]
        #expect(problem(jpeg) == .unsupported("JPEG of kind 3"))
    }

    @Test func `limits apply to the header alone`() throws {
        let bomb = try PictureHeader(png(width: 30_000, height: 30_000))
        #expect(throws: PictureError.tooManyPixels(bomb.size)) {
            try PictureLimits().check(bomb)
        }
        let large = try PictureHeader(png(width: 9_000, height: 9_000))
        #expect(throws: PictureError.tooMuchMemory(large.size)) {
            try PictureLimits().check(large)
        }
        try PictureLimits().check(PictureHeader(png(width: 4_000, height: 3_000)))
    }
}
