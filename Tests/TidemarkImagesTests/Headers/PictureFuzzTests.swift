import Foundation
import Testing
import TestSupport

@testable import TidemarkImages

/// Reads damaged headers and files. The result is a picture or an error, and never a trap. A
/// failure prints the seed. `TIDEMARK_FUZZ_SEED` sets the seed, and `TIDEMARK_FUZZ_PICTURES` the
/// number of pictures.
@Suite(.ownThread) struct PictureFuzzTests {
    private static func number(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
    }

    private let count = number("TIDEMARK_FUZZ_PICTURES") ?? 3_000
    private let seed = UInt64(number("TIDEMARK_FUZZ_SEED") ?? 1)

    private let samples: [[UInt8]] = {
        let pixels = PictureGenerator.fields(Samples.size)
        return [
            Samples.jpeg, Samples.png, Samples.webP, Samples.losslessWebP,
            PictureEncoder.jpeg(pixels, Samples.size, isProgressive: true)!,
            PictureEncoder.jpeg(pixels, Samples.size, orientation: .left)!,
            Array("RIFF\u{64}\0\0\0WEBPVP8X".utf8) + [10, 0, 0, 0, 8, 0, 0, 0, 9, 0, 0, 9, 0, 0]
                + Array("EXIF".utf8) + [20, 0, 0, 0] + Array("Exif\0\0MM\0*".utf8)
                + [UInt8](repeating: 1, count: 10),
        ]
    }()

    /// Returns a sample with a few changes, mostly near the start: cut off, repeated, changed, or
    /// joined with another sample.
    private func damaged(_ dice: inout PictureGenerator) -> [UInt8] {
        func roll(_ sides: Int) -> Int { Int(dice.next() % UInt64(max(1, sides))) }
        var file = samples[roll(samples.count)]
        for _ in 0...roll(4) {
            let near = roll(3) == 0 ? file.count : min(file.count, 64)
            switch roll(6) {
            case 0: file = Array(file[..<roll(file.count + 1)])
            case 1:
                let other = samples[roll(samples.count)]
                file = Array(file[..<roll(file.count + 1)]) + other[roll(other.count)...]
            case 2:
                let place = roll(near)
                file.insert(contentsOf: file[place..<min(file.count, place + roll(9))], at: place)
            case 3 where !file.isEmpty: file[roll(near)] = [0, 1, 0x7F, 0x80, 0xFE, 0xFF][roll(6)]
            default: if !file.isEmpty { file[roll(near)] = UInt8(truncatingIfNeeded: dice.next()) }
            }
        }
        return file
    }

    @Test func `no header traps`() {
        var dice = PictureGenerator(seed: seed)
        var read = 0
        for _ in 0..<count {
            let file = damaged(&dice)
            if let header = try? PictureHeader(file) {
                read += 1
                #expect(header.stored.width > 0 && header.stored.height > 0, "seed \(seed)")
                expectPossible(header)
            }
        }
        #expect(read > count / 20 && read < count, "damage that matters, and not always: \(read)")
    }

    /// Checks that the memory that a header asks for fits its format.
    private func expectPossible(_ header: PictureHeader) {
        let (width, height) = (header.stored.width, header.stored.height)
        let pixels = width * height
        let isPossible =
            switch header.format {
            case .png: header.wholeBytes == 4 * pixels
            case .webP: [0, pixels, 4 * pixels].contains(header.wholeBytes)
            // A decoder holds two bytes for each of one to four components. No component has more
            // samples than pixels, or fewer than a sixteenth. Blocks are whole and have up to 32
            // pixels on a side.
            case .jpeg:
                header.wholeBytes == 0
                    || (pixels / 8...8 * (width + 31) * (height + 31)).contains(header.wholeBytes)
            }
        #expect(isPossible, "seed \(seed): \(header)")
    }

    @Test func `no decoder traps, and what comes out is of the size that was said`() {
        var dice = PictureGenerator(seed: seed &+ 1_000)
        let limits = PictureLimits(maximumPixels: 1_000_000, maximumDecodeBytes: 8 << 20)
        var decoded = 0
        for _ in 0..<max(1, count / 4) {
            let file = damaged(&dice)
            let box = PictureSize(
                width: 1 + Int(dice.next() % 64), height: 1 + Int(dice.next() % 64))
            let mode: PictureFit = dice.next() % 2 == 0 ? .fit : .fill
            let picture = file.withUnsafeBytes { bytes in
                try? PictureDecoding.picture(bytes, into: box, mode, limits: limits)
            }
            guard let picture else { continue }
            decoded += 1
            #expect(picture.width <= box.width && picture.height <= box.height, "seed \(seed)")
            #expect(picture.pixels.count == 4 * picture.width * picture.height)
        }
        #expect(decoded > 0)
    }

    @Test func `a file that ends early is damaged, wherever it ends`() {
        for file in samples.dropLast() {
            for length in stride(from: 0, to: file.count - 16, by: max(1, file.count / 40)) {
                let part = Array(file[..<length])
                #expect(
                    throws: PictureError.self,
                    "\(PictureFormat(firstBytes: file)!) \(length) of \(file.count)"
                ) {
                    try part.withUnsafeBytes { bytes throws(PictureError) in
                        try PictureDecoding.picture(
                            bytes, into: Samples.box, .fill, limits: PictureLimits())
                    }
                }
            }
        }
    }
}
