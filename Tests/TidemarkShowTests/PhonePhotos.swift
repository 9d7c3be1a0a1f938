import ExampleKit
import Foundation
import TidemarkHTTP
import TidemarkPhones

/// The photos of a phone in a test.
enum PhonePhotos {
    /// The size of an enlarged photo in bytes. Its upload takes several requests.
    static let large = 12_000_000

    /// Appends bytes that a decoder does not read.
    @Sendable static func enlarge(_ photo: URL) throws {
        var bytes = try Data(contentsOf: photo)
        bytes += Data((bytes.count..<large).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) })
        try bytes.write(to: photo)
    }

    /// Puts a text in place of a photo. Storage's rules refuse it.
    @Sendable static func replaceByText(_ photo: URL) throws {
        try FileManager.default.removeItem(at: photo)
        try Data("no picture".utf8).write(
            to: photo.deletingPathExtension().appendingPathExtension("txt"))
    }
}

extension PhoneGround {
    /// Plays a test with a phone's folder of photos, and Storage.
    ///
    /// - Parameter change: Changes each photo in the folder, which is a JPEG file.
    static func playWithPhotos(
        _ example: Example, _ change: (URL) throws -> Void = { _ in },
        _ body:
            @escaping @Sendable (PhoneGround, ObjectsServer, _ address: String, _ photos: URL)
            async throws -> Void
    ) async throws {
        try await play(example) { ground in
            let photos = URL(fileURLWithPath: ground.folder).appending(path: "photos")
            try CameraPhotos.write(2, to: photos)
            for number in 1...2 { try change(photos.appending(path: "\(number).jpg")) }
            try await ground.withStorage(example) { storage, address in
                try await body(ground, storage, address, photos)
            }
        }
    }
}
