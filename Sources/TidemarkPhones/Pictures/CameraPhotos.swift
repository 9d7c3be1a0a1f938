package import Foundation
import TidemarkImages

/// The photos that a phone's user has taken.
package enum CameraPhotos {
    /// Writes photos as JPEG files of some hundred kilobytes each. The same call writes the same
    /// photos.
    ///
    /// - Throws: The file system's error, or `PictureError` without an encoder.
    package static func write(_ count: Int, to folder: URL) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let size = PictureSize(width: 1_600, height: 1_200)
        for number in 1...count {
            var generator = PictureGenerator(seed: UInt64(1_000 + number))
            guard let file = PictureEncoder.jpeg(generator.photograph(size), size) else {
                throw PictureError.unsupported("JPEG")
            }
            try Data(file).write(to: folder.appendingPathComponent("\(number).jpg"))
        }
    }
}
