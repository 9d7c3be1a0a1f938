import ExampleKit
import Foundation
import Tidemark
import TidemarkFiles

/// Adds stamps with their photos.
struct StampPhotos: Sendable {
    let photos: AppPhotos
    let firestore: Firestore

    /// Puts a stamp, its photo and the user's new total on disk together. They are sent together
    /// too: when the photo is in Storage.
    ///
    /// - Parameters:
    ///   - user: The id of the user who owns the stamp.
    ///   - time: The time at which the stamp was added.
    /// - Returns: The handle of the write, which is acknowledged when all of it has arrived.
    func add(
        _ name: String, from country: String, photo: FileUpload, of user: String, at time: Timestamp
    ) async throws(FirestoreError) -> WriteReceipt? {
        var photo = photo
        // Storage's rules let the owner alone delete the photo.
        photo.metadata[Paths.owner] = user
        let batch = firestore.batch()
        batch.setData(
            [
                "name": name, "country": country, Paths.owner: user, Paths.photo: photo,
                Paths.created: time, Paths.updated: FieldValue.serverTimestamp(),
            ], forDocument: firestore.collection(Paths.stamps).document())
        batch.updateData(
            [Paths.total: FieldValue.increment(Int64(1))],
            forDocument: firestore.collection(Paths.users).document(user))
        return try await batch.enqueue()
    }

    /// The waiting photos of stamps, by the ids of the stamps.
    func updates() async -> AsyncStream<[String: WaitingFile]> {
        let updates = await photos.outbox.updates()
        return AsyncStream {
            for await files in updates {
                let stamps = files.filter { $0.document.text.hasPrefix(Paths.stamps + "/") }
                return Dictionary(
                    stamps.map { ($0.document.id, $0) }, uniquingKeysWith: { $1 })
            }
            return nil
        }
    }

    /// Tries the photos again that Storage has refused, or gives them up with their stamps.
    func settle(_ refused: some Sequence<WaitingFile>, isRetried: Bool) async throws(FirestoreError)
    {
        for file in refused {
            if isRetried {
                try await photos.outbox.retry(file.id)
            } else {
                try await photos.outbox.discard(file.id)
            }
        }
    }
}
