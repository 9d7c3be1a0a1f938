import Foundation
import Testing
import TidemarkImages

/// Tests pictures that are files of the app.
struct PictureFileTests {
    private let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("tidemark-file-\(UUID().uuidString)")

    private func file(_ bytes: [UInt8]) throws -> URL {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appendingPathComponent("picture")
        try Data(bytes).write(to: file)
        return file
    }

    @Test func `a file is decoded by what is in it`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let box = PictureSize(width: 24, height: 24)
        for bytes in [Samples.jpeg, Samples.png, Samples.webP] {
            let picture = try Picture(contentsOf: file(bytes), size: box, mode: .fit)
            #expect(picture.size == PictureSize(width: 24, height: 16))
            #expect(picture == (try Picture(decoding: bytes, size: box, mode: .fit)))
        }
    }

    @Test func `what is no picture, or too large a one, is refused`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let box = PictureSize(width: 24, height: 24)
        func error(_ file: URL, _ limits: PictureLimits = PictureLimits()) -> PictureError? {
            do throws(PictureError) {
                _ = try Picture(contentsOf: file, size: box, limits: limits)
                return nil
            } catch { return error }
        }
        #expect(error(folder.appendingPathComponent("nowhere")) == .notFound)
        #expect(error(try file(Array("text, not a picture".utf8))) == .notAPicture)
        #expect(error(try file(Array(Samples.png.prefix(60)))) == .damaged)
        let jpeg = try file(Samples.jpeg)
        #expect(error(jpeg, PictureLimits(maximumBytes: 100)) == .tooManyBytes(nil))
        #expect(
            error(jpeg, PictureLimits(maximumPixels: 10)) == .tooManyPixels(Samples.size))
    }
}
