import ArgumentParser
import ChatsCore
import ExampleKit
import Foundation
import Tidemark
import TidemarkFiles

/// The app that sends photos, which the demo kills.
struct SendPhotosCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send-photos", abstract: "Send photos until killed.", shouldDisplay: false)

    @Option var side: Side
    @Option(help: "The folder of the photos.") var photos: String
    @Option(help: "The number of photos that are journalled.") var first: Int
    @Option var chat: String
    @Option(help: "The port of Storage.") var storage: Int
    @Option(help: "The current time, in seconds since 1970.") var now: Int64
    @OptionGroup var place: PlaceOptions

    func run() async throws {
        let folder = URL(fileURLWithPath: photos)
        let names = try FileManager.default.contentsOfDirectory(atPath: photos).sorted()
        let chosen = names.dropFirst(first).map { folder.appendingPathComponent($0) }
        let client = try await DeviceClient(side, place.place, label: place.label)
        switch side {
        case .before, .filtered: try await sendFromMemory(chosen, client.firestore)
        case .after: try await send(chosen, client.firestore)
        }
        await client.close()
    }

    private func caption(of photo: URL) -> String {
        "Photo \(photo.deletingPathExtension().lastPathComponent)"
    }

    /// Sends as the app on Tidemark does. A photo and its message are journalled together, and the
    /// next process continues.
    @MainActor private func send(_ chosen: [URL], _ firestore: Firestore) async throws {
        let photos = AppPhotos(firestore, FileSettings(storagePort: storage))
        var app = ChatsApp(firestore, me: place.user, photos: photos)
        let (start, now) = (ContinuousClock.now, Timestamp(seconds: now, nanoseconds: 0))
        app.now = { now.advanced(by: .now - start) }
        let model = try app.chat(chat)
        for photo in chosen {
            await model.send(caption(of: photo), photo: FileUpload(photo))
            if let problem = model.problem { throw ValidationError(problem) }
            say("journalled")
        }
        await photos.outbox.start()
        for await files in await photos.outbox.updates() {
            say("left \(files.count)")
            if files.isEmpty { break }
        }
        try await firestore.waitForPendingWrites()
    }

    /// Sends as the app did before: the photos are read into memory, and each is uploaded before
    /// its message is written.
    private func sendFromMemory(_ chosen: [URL], _ firestore: Firestore) async throws {
        let storage = Storage(firestore, FileSettings(storagePort: storage))
        let photos = try chosen.map { ($0, try Data(contentsOf: $0)) }
        let (start, now) = (ContinuousClock.now, Timestamp(seconds: now, nanoseconds: 0))
        for (index, (photo, bytes)) in photos.enumerated() {
            let path = "chats/\(chat)/\(photo.lastPathComponent)"
            _ = try await storage.reference(withPath: path).putDataAsync(bytes)
            let document = firestore.document("chats/\(chat)")
            let batch = firestore.batch()
            batch.setData(
                [
                    "author": place.user, "text": caption(of: photo), "photo": ["path": path],
                    "sentAt": now.advanced(by: .now - start),
                    "updatedAt": FieldValue.serverTimestamp(),
                ], forDocument: document.collection("messages").document())
            batch.updateData(
                [
                    "lastText": caption(of: photo),
                    "lastMessageAt": FieldValue.serverTimestamp(),
                    "updatedAt": FieldValue.serverTimestamp(),
                ], forDocument: document)
            try await batch.commit()
            say("left \(photos.count - 1 - index)")
        }
    }

    private func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
}
