import ExampleKit
import Foundation
import Tidemark
import TidemarkFiles
import TidemarkImages

/// The picture of the user's profile.
struct HomePhoto: Sendable {
    private static let size = PictureSize(width: 160, height: 160)

    let photos: AppPhotos
    private let firestore: Firestore
    private let pipeline: ImagePipeline

    /// - Parameter folder: The folder of the pictures, used by this app alone.
    /// - Throws: The file system's error.
    init(_ photos: AppPhotos, _ firestore: Firestore, folder: String) throws {
        self.photos = photos
        self.firestore = firestore
        pipeline = try ImagePipeline(
            folder: URL(fileURLWithPath: folder), environment: photos.environment)
    }

    private func profile(of user: String) -> DocumentReference {
        firestore.collection(Paths.users).document(user)
    }

    /// Puts a new picture and the change of the profile on disk together. The profile is sent when
    /// the picture is in Storage.
    ///
    /// - Returns: The handle of the write, which is acknowledged when both have arrived.
    func choose(
        _ photo: FileUpload, of user: String
    ) async throws(FirestoreError) -> WriteReceipt {
        try await profile(of: user).enqueueUpdateData([Paths.photo: photo])
    }

    /// Deletes the picture that another one has replaced. If the app ends before, the object stays,
    /// and `tidemark audit objects` finds it.
    func remove(_ replaced: StoredFile) async { await photos.delete(replaced.path) }

    /// The picture that is not sent yet, now and after each change.
    func uploads(of user: String) async -> AsyncStream<WaitingFile?> {
        let path = profile(of: user).path
        let updates = await photos.outbox.updates()
        return AsyncStream {
            for await files in updates { return files.last { $0.document.text == path } }
            return nil
        }
    }

    /// Returns the picture at the size at which it is shown: from its copy on this phone until the
    /// profile is sent, then from Storage with the user's token. Returns nil while it cannot be
    /// loaded.
    func load(_ photo: StoredFile, of user: String) async -> TidemarkImages.Picture? {
        if let copy = try? await profile(of: user).file(Paths.photo) {
            return await AppPhotos.decode(copy, size: Self.size)
        }
        let request = PictureRequest(photos.object(photo.path), size: Self.size)
        return try? await pipeline.picture(request).picture
    }
}
