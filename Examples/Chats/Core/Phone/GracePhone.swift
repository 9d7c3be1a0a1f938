import ExampleKit
import Foundation
import Tidemark
import TidemarkFiles
import TidemarkImages

/// Grace's phone, which shows the newest messages of the chat with her and loads their photos.
struct GracePhone: Sendable {
    /// The number of messages that are shown.
    private static let shown = 3
    /// The number of newest messages whose photos are counted.
    private static let counted = 100
    /// The maximum size of a photo in bytes, as the rules of Storage have it.
    private static let maxPhoto: Int64 = 20 << 20

    private let query: Query
    private let storage: Storage?
    /// The bytes of the photos that the phone's user has taken.
    private let taken: Set<Data>

    init(_ project: PhoneProject) {
        query = project.firestore.collection("chats/grace/messages")
            .whereField("sentAt", isGreaterThan: project.dayStart)
            .order(by: "sentAt", descending: true).limit(to: Self.counted)
        storage = project.storage.map { Storage(project.firestore, FileSettings($0)) }
        let folder = project.photos.map { URL(fileURLWithPath: $0) }
        let files = folder.flatMap {
            try? FileManager.default.contentsOfDirectory(at: $0, includingPropertiesForKeys: nil)
        }
        taken = Set((files ?? []).compactMap { try? Data(contentsOf: $0) })
    }

    /// The phone's content now and after each change, for one reader.
    var views: AsyncStream<OtherPhone.View> {
        let (views, input) = AsyncStream.makeStream(
            of: OtherPhone.View.self, bufferingPolicy: .bufferingNewest(1))
        let task = Task {
            defer { input.finish() }
            var photos: [String: Photo] = [:]
            for try await snapshot in query.snapshots {
                let messages = snapshot.documents.compactMap {
                    try? $0.data(as: ChatMessage.self)
                }
                for message in messages {
                    guard let id = message.id, photos[id] == nil else { continue }
                    photos[id] = await arrived(message.photo)
                }
                input.yield(view(messages, photos))
            }
        }
        input.onTermination = { _ in task.cancel() }
        return views
    }

    /// Returns a photo that is in Storage with all of its bytes.
    private func arrived(_ photo: StoredFile?) async -> Photo? {
        guard let photo, let storage,
            let bytes = try? await storage.reference(withPath: photo.path)
                .data(maxSize: Self.maxPhoto), taken.contains(bytes)
        else { return nil }
        return (try? TidemarkImages.Picture(decoding: [UInt8](bytes), size: Photo.size))
            .map(Photo.init)
    }

    private func view(_ messages: [ChatMessage], _ photos: [String: Photo]) -> OtherPhone.View {
        let rows = messages.prefix(Self.shown).reversed().map { message in
            let id = message.id ?? ""
            return Row(
                id, message.text.isEmpty ? "Photo" : message.text,
                kind: .bubble(isOwn: message.author == "Grace"), detail: message.author
            ).with {
                $0.isDocument = true
                $0.photo = photos[id]
            }
        }
        return OtherPhone.View(
            Screen("Grace’s phone", .fresh, sections: [Screen.Section(nil, rows)]),
            photos: photos.count)
    }
}
