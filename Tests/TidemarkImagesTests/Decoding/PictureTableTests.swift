import Foundation
import Testing

@testable import TidemarkImages

/// Compares small pictures with the pixels that Pillow decodes. The pictures have all formats,
/// depths, palettes, kinds of alpha and colour chunks. `Scripts/picture-table` makes the table.
struct PictureTableTests {
    private struct Row: Decodable {
        let name: String
        let width, height, tolerance: Int
        let file, pixels: Data

        var size: PictureSize { PictureSize(width: width, height: height) }
        /// The pixels in the form of ``Picture``.
        var premultiplied: [UInt8] {
            var result = [UInt8](pixels)
            for start in stride(from: 0, to: result.count, by: 4) {
                let alpha = Int(result[start + 3])
                for index in start..<(start + 3) {
                    result[index] = UInt8((Int(result[index]) * alpha + 127) / 255)
                }
            }
            return result
        }
    }

    private static let table: [Row] = {
        let path = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "PictureTable.jsonl")
        let lines = (try? Data(contentsOf: path))?.split(separator: UInt8(ascii: "\n")) ?? []
        return lines.compactMap { try? JSONDecoder().decode(Row.self, from: Data($0)) }
    }()

    private func largestDifference(_ ours: [UInt8], _ theirs: [UInt8]) -> Int {
        zip(ours, theirs).reduce(0) { max($0, abs(Int($1.0) - Int($1.1))) }
    }

    @Test func `every picture has the pixels of the reference decoder`() throws {
        #expect(Self.table.count >= 150)
        for row in Self.table {
            let picture = try PictureDecoding.picture([UInt8](row.file), into: row.size, .fit)
            try #require(picture.size == row.size, "\(row.name)")
            let difference = largestDifference(picture.pixels, row.premultiplied)
            #expect(difference <= row.tolerance, "\(row.name): off by \(difference)")
        }
    }

    /// Two pixels have the mean of the whole picture. JPEG is exempt: at a quarter of its size,
    /// such a small JPEG consists mostly of the edges of its blocks.
    @Test func `a small copy has the mean of the reference`() throws {
        for row in Self.table where row.width > 1 && !row.name.hasPrefix("JPEG") {
            let picture = try PictureDecoding.picture(
                [UInt8](row.file), into: PictureSize(width: 2, height: 2), .fit)
            let wanted = row.premultiplied
            for channel in 0..<4 {
                let theirs =
                    stride(from: channel, to: wanted.count, by: 4)
                    .reduce(0) { $0 + Int(wanted[$1]) } / (wanted.count / 4)
                let ours =
                    stride(from: channel, to: picture.pixels.count, by: 4)
                    .reduce(0) { $0 + Int(picture.pixels[$1]) } / (picture.pixels.count / 4)
                #expect(abs(ours - theirs) <= 10, "\(row.name): \(ours), not \(theirs)")
            }
        }
    }

    @Test func `16 bits are as bright as 8 bits, whatever the colour chunk is`() throws {
        var pairs = 0
        for row in Self.table where row.name.contains(", 16 bits") {
            guard
                let twin = Self.table.first(where: {
                    $0.name == row.name.replacing(", 16 bits", with: ", 8 bits")
                })
            else { continue }
            let both = try [row, twin].map {
                try PictureDecoding.picture([UInt8]($0.file), into: $0.size, .fit).pixels
            }
            #expect(largestDifference(both[0], both[1]) <= 1, "\(row.name)")
            pairs += 1
        }
        #expect(pairs >= 30)
    }
}

/// Tests EXIF in a PNG. Orientation 6 turns a picture clockwise by a quarter.
struct PNGOrientationTests {
    /// A picture of 40×20 pixels whose left half is red.
    private static let pixels: [UInt8] = (0..<800).flatMap { index -> [UInt8] in
        index % 40 < 20 ? [255, 0, 0, 255] : [0, 0, 255, 255]
    }
    private static let plain = PictureEncoder.png(pixels, PictureSize(width: 40, height: 20))!

    private func big(_ number: Int) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
    }

    private func sum(_ bytes: [UInt8]) -> Int {
        var sum: UInt32 = .max
        for byte in bytes {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum >> 1 ^ (sum & 1 == 0 ? 0 : 0xEDB8_8320) }
        }
        return Int(~sum)
    }

    private func chunk(orientation: UInt8) -> [UInt8] {
        let tiff =
            Array("II*\0".utf8) + [8, 0, 0, 0, 1, 0]
            + [0x12, 0x01, 3, 0, 1, 0, 0, 0, orientation, 0, 0, 0, 0, 0, 0, 0]
        let body = Array("eXIf".utf8) + tiff
        return big(tiff.count) + body + big(sum(body))
    }

    /// Inserts a chunk after the first chunk, or before the last chunk.
    private func with(_ chunk: [UInt8], isBehindPixels: Bool) -> [UInt8] {
        let place = isBehindPixels ? Self.plain.count - 12 : 33
        return Self.plain[..<place] + chunk + Self.plain[place...]
    }

    @Test(arguments: [false, true])
    func `turns the picture, before the pixels and behind them`(isBehind: Bool) throws {
        let file = with(chunk(orientation: 6), isBehindPixels: isBehind)
        let header = try PictureHeader(file)
        #expect(header.orientation == .right)
        #expect(header.size == PictureSize(width: 20, height: 40))
        let picture = try PictureDecoding.picture(
            file, into: PictureSize(width: 40, height: 40), .fit)
        #expect(picture.size == PictureSize(width: 20, height: 40))
        #expect(picture[0, 0] == SIMD4(255, 0, 0, 255) && picture[19, 0].x == 255)
        #expect(picture[0, 39] == SIMD4(0, 0, 255, 255))
    }

    @Test func `that is damaged leaves the picture as it is`() throws {
        let whole = chunk(orientation: 6)
        var wrongSum = whole
        wrongSum[wrongSum.count - 1] ^= 1
        var noTIFF = Array("eXIf".utf8) + Array("nothing at all".utf8)
        noTIFF = big(14) + noTIFF + big(sum(noTIFF))
        let noOrientation = chunk(orientation: 9)
        for chunk in [wrongSum, noTIFF, noOrientation] {
            for isBehind in [false, true] {
                let file = with(chunk, isBehindPixels: isBehind)
                #expect(try PictureHeader(file).orientation == .up)
                let picture = try PictureDecoding.picture(
                    file, into: PictureSize(width: 40, height: 40), .fit)
                #expect(picture.size == PictureSize(width: 40, height: 20))
                #expect(picture[0, 0] == SIMD4(255, 0, 0, 255))
            }
        }
    }

    @Test func `a header is read of the beginning alone`() throws {
        let file = with(chunk(orientation: 6), isBehindPixels: false)
        #expect(try PictureHeader(Array(file[..<33])).orientation == .up)
        #expect(try PictureHeader(Array(file[..<60])).orientation == .up)
        #expect(try PictureHeader(Array(file[..<80])).orientation == .right)
        #expect(throws: PictureHeader.Problem.needsMoreBytes) {
            try PictureHeader(Array(file[..<20]))
        }
    }
}
