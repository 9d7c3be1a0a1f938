public import ExampleKit
public import Foundation
public import Tidemark
public import TidemarkFiles
public import TidemarkImages

/// The photos of messages: the outbox sends them, and Storage has them. An app keeps one value for
/// each client, and starts its outbox.
public struct ChatPhotos: Sendable {
    /// The place from which a photo is shown.
    public enum Place: Hashable, Sendable {
        /// The copy on this phone.
        case onPhone(URL)
        /// The photo's address in Storage, which needs no sign-in.
        case inStorage(URL)
    }

    public let outbox: FileOutbox
    private let storage: Storage

    /// - Parameter settings: The project's bucket, as in
    ///   `FileSettings(bucket: "my-project.firebasestorage.app")`.
    public init(_ firestore: Firestore, _ settings: FileSettings) {
        outbox = FileOutbox(firestore, settings)
        storage = Storage(firestore, settings)
    }

    /// Makes the photos of an app that Xcode runs: `ChatPhotos(firestore, PhoneServices())`.
    public init(_ firestore: Firestore, _ services: PhoneServices) {
        let (bucket, address) = services.storage()
        var settings = FileSettings(bucket: bucket)
        settings.address = address
        self.init(firestore, settings)
    }

    func address(of path: String) async -> URL? {
        try? await storage.reference(withPath: path).downloadURL()
    }

    /// Decodes the copy of a photo at the size at which it is shown, off the main actor. Returns
    /// nil if the copy is no longer there, or is no picture.
    public static func decode(
        _ copy: URL, size: PictureSize
    ) async -> TidemarkImages.Picture? {
        try? TidemarkImages.Picture(contentsOf: copy, size: size)
    }
}

extension FileUpload {
    /// Returns the upload of a photo; nil for bytes that are no JPEG, PNG or WebP.
    public static func photo(_ bytes: Data) -> FileUpload? {
        PictureFormat(firstBytes: bytes.prefix(12)).map {
            FileUpload(data: bytes, contentType: "image/" + $0.rawValue.lowercased())
        }
    }
}
