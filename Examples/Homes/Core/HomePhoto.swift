public import ExampleKit
import Foundation
public import Tidemark
import TidemarkApp
import TidemarkFiles
public import TidemarkImages

/// The picture of the user's profile.
public struct HomePhoto: Sendable {
    private static let size = PictureSize(width: 160, height: 160)

    public let photos: AppPhotos
    private let firestore: Firestore
    private let pipeline: ImagePipeline

    /// - Parameter folder: The folder of the pictures, used by this app alone.
    /// - Throws: The file system's error.
    public init(_ photos: AppPhotos, _ firestore: Firestore, folder: String) throws {
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
        let place = await photos.place(
            of: Paths.photo, in: profile(of: user), path: photo.path)
        switch place {
        case .onPhone(let copy): return await AppPhotos.decode(copy, size: Self.size)
        case .inStorage(let object):
            return try? await pipeline.picture(PictureRequest(object, size: Self.size)).picture
        case nil: return nil
        }
    }

    /// Returns the picture of a user's profile now and after each change, for one reader. Leaves
    /// out a picture that cannot be loaded.
    public func pictures(of user: String) -> AsyncStream<TidemarkImages.Picture> {
        let (pictures, input) = AsyncStream.makeStream(
            of: TidemarkImages.Picture.self, bufferingPolicy: .bufferingNewest(1))
        let task = Task {
            defer { input.finish() }
            for try await profile in profile(of: user).values(as: Profile.self) {
                guard case .value(let profile) = profile, let photo = profile.photo,
                    let picture = await load(photo, of: user)
                else { continue }
                input.yield(picture)
            }
        }
        input.onTermination = { _ in task.cancel() }
        return pictures
    }
}
