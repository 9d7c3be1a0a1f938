public import Foundation
public import Tidemark
public import TidemarkFiles
public import TidemarkImages

/// The photos that an app sends with its documents: the outbox sends them, and Storage has them. An
/// app keeps one value for each client, and starts its outbox.
public struct AppPhotos: Sendable {
    /// The place from which a photo is shown.
    public enum Place: Hashable, Sendable {
        /// The copy on this phone.
        case onPhone(URL)
        /// The photo's `gs://` address, for a pipeline with ``AppPhotos/environment``.
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

    /// Makes the photos of an app that Xcode runs: `AppPhotos(firestore, PhoneServices())`.
    public init(_ firestore: Firestore, _ services: PhoneServices) {
        self.init(firestore, FileSettings(services.phoneStorage()))
    }

    /// Makes the photos of an app on a phone; nil if the phone has no Storage.
    public init?(_ firestore: Firestore, _ phone: PhoneSettings) {
        guard let storage = phone.storage else { return nil }
        self.init(firestore, FileSettings(storage))
    }

    /// Returns the place of the photo in a field: the copy on this phone until the document is sent
    /// with it, and then the object in Storage. Returns nil without a photo.
    ///
    /// Costs no read of a document, and sends nothing.
    ///
    /// - Parameter path: The object's name in the field; nil if it is not known.
    public func place(
        of field: String, in document: DocumentReference, path: String?
    ) async -> Place? {
        if let copy = try? await document.file(field) { return .onPhone(copy) }
        return path.map { .inStorage(object($0)) }
    }

    /// The environment of a pipeline that loads the app's photos with the user's tokens.
    public var environment: ImageEnvironment {
        let storage = storage
        return ImageEnvironment(
            bucket: PictureBucket(
                userID: { storage.userID }, request: storage.downloadRequest(for:of:afterRefusal:)))
    }

    /// Returns the `gs://` address of an object, for a pipeline with this ``environment``.
    public func object(_ path: String) -> URL { storage.reference(withPath: path).url }

    /// Deletes an object that no document names. A failure has no consequence but the object.
    public func delete(_ path: String) async {
        try? await storage.reference(withPath: path).delete()
    }

    /// Decodes the copy of a photo at the size at which it is shown, off the main actor. Returns
    /// nil if the copy is no longer there, or is no picture.
    public static func decode(
        _ copy: URL, size: PictureSize
    ) async -> TidemarkImages.Picture? {
        try? TidemarkImages.Picture(contentsOf: copy, size: size)
    }
}

extension FileSettings {
    /// Makes the settings of a phone's Storage.
    public init(_ storage: PhoneStorage) {
        self.init(bucket: storage.bucket)
        address = storage.address
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

extension WaitingFile {
    /// The state as a few words for a row.
    public var words: String {
        switch state {
        case .failed, .documentRefused: "Not sent"
        case .waitingForNetwork: "Waiting for Wi-Fi"
        case .uploaded: "Sending"
        case .waiting, .waitingForDocument, .uploading:
            "Sending \(100 * sent / max(1, size)) %"
        }
    }

    /// True if Storage has refused the photo: the user tries again, or discards it.
    public var isRefused: Bool { if case .failed = state { true } else { false } }
}
