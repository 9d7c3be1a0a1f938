import ExampleKit
import Foundation
import Observation
import TidemarkFiles
import TidemarkImages

/// The photos of the messages on the screen, at the size at which they are shown: from their copies
/// on this phone until they are sent, and then from Storage.
@MainActor @Observable final class ShownPhotos {
    /// The number of newest messages whose photos are loaded.
    private static let most = 50

    /// The loaded photos, by their messages.
    private(set) var loaded: [String: Photo] = [:]
    @ObservationIgnored private var loads: [String: Task<Void, Never>] = [:]
    @ObservationIgnored private let pipeline: ImagePipeline

    /// - Parameter folder: The folder of the pictures, used by this app alone.
    /// - Throws: The file system's error.
    init(_ photos: AppPhotos, folder: String) throws {
        pipeline = try ImagePipeline(
            folder: URL(fileURLWithPath: folder), environment: photos.environment)
    }

    /// Loads the missing photos. A photo that failed is tried again at the next call.
    func load(_ messages: [ChatMessage], of chat: ChatModel) {
        for message in messages.suffix(Self.most) {
            guard let id = message.id, loads[id] == nil,
                message.photo != nil || chat.upload(of: message) != nil
            else { continue }
            loads[id] = Task {
                if let picture = await picture(of: message, in: chat), !Task.isCancelled {
                    loaded[id] = Photo(picture)
                } else {
                    loads[id] = nil
                }
            }
        }
    }

    private func picture(
        of message: ChatMessage, in chat: ChatModel
    ) async -> TidemarkImages.Picture? {
        switch await chat.photo(of: message) {
        case .onPhone(let copy): await AppPhotos.decode(copy, size: Photo.size)
        case .inStorage(let object):
            try? await pipeline.picture(PictureRequest(object, size: Photo.size)).picture
        case nil: nil
        }
    }

    /// Forgets the photos of a chat that is closed.
    func close() {
        for load in loads.values { load.cancel() }
        (loads, loaded) = ([:], [:])
    }
}
