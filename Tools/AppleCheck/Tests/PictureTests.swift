import CoreGraphics
import ImageIO
import Testing

@testable import TidemarkImages

/// Runs the real adapter on a decoder that returns the pictures that a test sets.
struct `ImageIO's adapter` {
    /// Returns a PNG's signature and first chunk, which is all that is read before the decode. The
    /// last byte differs in each test, because files with equal bytes would be the same file.
    private func file(width: Int, height: Int, number: UInt8) -> [UInt8] {
        func big(_ value: Int) -> [UInt8] {
            (0..<4).reversed().map { UInt8(value >> (8 * $0) & 0xFF) }
        }
        return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + big(13) + Array("IHDR".utf8)
            + big(width) + big(height) + [8, 6, 0, 0, 0, 0, 0, 0, number]
    }

    /// Returns a picture in which red is the column and green is the row.
    private func picture(_ width: Int, _ height: Int) -> StubPictures.Picture {
        StubPictures.Picture(width: width, height: height) { [UInt8($0), UInt8($1), 7, 255] }
    }

    @Test func `asks for a small picture, and hands it out with its top row first`() throws {
        let file = file(width: 200, height: 100, number: 1)
        StubPictures.add(picture(200, 100), as: file)
        let box = PictureSize(width: 50, height: 50)
        let small = try PictureDecoding.picture(file, into: box, .fit)
        #expect(small.size == PictureSize(width: 50, height: 25))
        #expect(StubPictures.longestSides.contains(50))
        #expect(small[0, 0] == SIMD4(0, 0, 7, 255))
        #expect(small[10, 0] == SIMD4(40, 0, 7, 255))
        #expect(small[10, 20] == SIMD4(40, 80, 7, 255))
    }

    @Test func `cuts what does not fit off on both sides`() throws {
        let file = file(width: 200, height: 100, number: 2)
        StubPictures.add(picture(200, 100), as: file)
        let box = PictureSize(width: 50, height: 50)
        let filled = try PictureDecoding.picture(file, into: box, .fill)
        #expect(filled.size == box)
        #expect(filled[0, 0] == SIMD4(50, 0, 7, 255))
        #expect(filled[49, 49] == SIMD4(148, 98, 7, 255))
    }

    @Test func `leaves no edge empty where the decoder rounds down`() throws {
        // A third of 99 by 37 is 33 by 12.33, and the decoder makes 33 by 12.
        let file = file(width: 99, height: 38, number: 3)
        StubPictures.add(picture(99, 38), as: file)
        let small = try PictureDecoding.picture(
            file, into: PictureSize(width: 33, height: 33), .fit)
        #expect(small.size == PictureSize(width: 33, height: 13))
        for x in 0..<33 {
            #expect(small[x, 0].w == 255)
            #expect(small[x, 12].w == 255)
        }
    }

    @Test func `tells a file that cannot be decoded`() {
        let unknown = file(width: 10, height: 10, number: 4)
        #expect(throws: PictureError.damaged) {
            try PictureDecoding.picture(unknown, into: PictureSize(width: 5, height: 5), .fit)
        }
    }

    @Test func `makes an image of a picture, byte by byte`() throws {
        let picture = Picture(
            size: PictureSize(width: 2, height: 3), pixels: (0..<24).map { UInt8($0) })
        let image = try #require(picture.makeCGImage())
        #expect((image.width, image.height, image.bytesPerRow) == (2, 3, 8))
        #expect(image.dataProvider?.data.map { [UInt8]($0) } == picture.pixels)
    }

    @Test func `makes no files of pictures here`() {
        #expect(PictureEncoder.png([0, 0, 0, 0], PictureSize(width: 1, height: 1)) == nil)
    }
}
